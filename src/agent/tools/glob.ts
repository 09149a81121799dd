// Glob: finds files by name.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { profileOf } from "../../protocol/profiles.ts";
import { neededText, pathTest } from "../file-pattern.ts";
import { absolutePath } from "../files.ts";
import { listFiles, searchAt, unreadNote } from "../ripgrep.ts";
import { fittingLines, pathArgument, pathSpellings, tool } from "./define.ts";
import { failure } from "./tool.ts";

/** The maximum number of files listed in the stream. */
const maxFiles = 1000;
/** The maximum number of files shown to the model, together with the total. */
const maxShown = 200;
/** Above this many files, modification times are not read: that would take longer than the search. */
const maxTimed = 5000;

export const glob = tool({
  name: "Glob",
  wire: "glob",
  aliases: ["glob_file_search"],
  description:
    "Find files by name pattern (**/*.ts, src/**/*.{js,ts}), at any depth, newest first. Skips ignored files.",
  readOnly: true,
  args: v.object({
    pattern: v.pipe(
      v.string(),
      v.check((text) => text !== "", "must not be empty"),
      v.check((text) => !text.split(/[/{},]/).includes(".."), 'must not climb with ".."; give the directory as "path"'),
    ),
    path: v.optional(pathArgument()),
  }),
  spellings: { ...pathSpellings, globPattern: "pattern", glob_pattern: "pattern", targetDirectory: "path" },
  wireArgs: (args, context) => ({
    ...((args.path !== undefined || profileOf(context.compat).globDirectory === "always") && {
      targetDirectory: absolutePath(args.path ?? ".", context),
    }),
    globPattern: args.pattern,
  }),
  needs: (args, context) => [
    { kind: "Read", target: absolutePath(args.path ?? ".", context) },
    // An absolute pattern is searched from the part before its first wildcard.
    ...(args.pattern.startsWith("/")
      ? [{ kind: "Read" as const, target: args.pattern.replace(/\/[^/]*[*?[{].*$/s, "") || "/" }]
      : []),
  ],
  async run(args, context) {
    const path = absolutePath(args.path ?? ".", context);
    const pattern = relativePattern(args.pattern, path);
    const test = pathTest(pattern);
    if (!test) throw failure(`The pattern ${args.pattern} has too many alternatives. Use several calls.`, { path });
    const search = await searchAt(args.path, context);
    if (search.isFile) throw failure(`${path} is a file: path names the directory to search.`, { path });

    const above = search.start === "./" ? 0 : search.start.length - 1;
    const isWanted = (file: string) => test(file.slice(above));
    const listed = await listFiles(search, context, { isWanted, needed: neededText(pattern) });
    const matching = above === 0 ? listed.files : listed.files.map((file) => file.slice(above));
    const files = matching.slice(0, maxFiles);
    const value = {
      pattern: args.pattern,
      path,
      files,
      totalFiles: matching.length,
      clientTruncated: files.length < matching.length,
      ripgrepTruncated: listed.cut,
    };
    // Give the model paths relative to the workspace, as its other tools accept them.
    const newestPaths = newestFirst(matching, path).slice(0, maxShown);
    const spelled = newestPaths.map((file) =>
      search.folder === context.workspace ? join(search.start, file) : join(path, file),
    );
    const { text, left } = fittingLines(spelled, context.resultLimit);
    const count = newestPaths.length - left;
    const of = `${listed.cut ? "more than " : ""}${matching.length.toLocaleString("en-US")} files`;
    const isAll = count === matching.length && !listed.cut;
    const note = isAll ? "" : `\n[${count} of ${of}. Narrow pattern or path.]`;
    return {
      outcome: { kind: "success", value },
      text: (text || "No files match.") + note + unreadNote(listed.unread),
    };
  },
});

function newestFirst(files: readonly string[], folder: string): readonly string[] {
  if (files.length > maxTimed) return files;
  const times = new Map(
    files.map((file) => [file, lstatSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0]),
  );
  return [...files].sort((one, other) => times.get(other)! - times.get(one)!);
}

/** Makes an absolute pattern relative to the folder, since models also send the whole path. */
function relativePattern(pattern: string, folder: string): string {
  if (!pattern.startsWith("/")) return pattern;
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  if (pattern.startsWith(start)) return `./${pattern.slice(start.length)}`;
  throw failure(`The pattern ${pattern} is outside ${folder}. Give the directory as "path" and a relative pattern.`, {
    path: folder,
  });
}
