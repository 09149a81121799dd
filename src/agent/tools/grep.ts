// Grep: finds lines that match a regular expression, the files that contain them, or their counts.
import { join } from "node:path";
import * as v from "valibot";
import { profileOf } from "../../protocol/profiles.ts";
import { lastPart, pathTest } from "../file-pattern.ts";
import { absolutePath } from "../files.ts";
import { type FoundRecord, namesIn, searchAt, searchRecords, unreadNote, withoutDot } from "../ripgrep.ts";
import { fittingLines, pathArgument, pathSpellings, tool } from "./define.ts";
import { failure, ToolFailure } from "./tool.ts";

const modes = ["content", "files_with_matches", "count"] as const;
type OutputMode = (typeof modes)[number];
const maxResults = 2000;
/** The maximum number of lines shown to the model, unless headLimit asks for more. */
const maxShown = 250;
const maxCharacters = 20_000;
const maxLineCharacters = 500;

const args = v.object({
  pattern: v.pipe(v.string(), v.description("Regex")),
  path: v.optional(pathArgument("File or directory")),
  glob: v.optional(v.pipe(v.string(), v.description("Only these files: *.{ts,tsx}; ! excludes"))),
  outputMode: v.optional(v.picklist(modes)),
  caseInsensitive: v.optional(v.boolean()),
  multiline: v.optional(v.pipe(v.boolean(), v.description("Match across lines"))),
  context: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.description("Lines around each match"))),
  before: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  after: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  headLimit: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.description(`Maximum number of results, default ${maxShown}`)),
  ),
});

type GrepArguments = v.InferOutput<typeof args>;

export const grep = tool({
  name: "Grep",
  wire: "grep",
  aliases: ["grep_search", "rg"],
  description:
    "Search file contents with ripgrep. Skips ignored and binary files. Shows lines unless outputMode says otherwise.",
  readOnly: true,
  args,
  spellings: {
    ...pathSpellings,
    output_mode: "outputMode",
    case_insensitive: "caseInsensitive",
    "-i": "caseInsensitive",
    "-C": "context",
    "-B": "before",
    "-A": "after",
    before_context: "before",
    after_context: "after",
    head_limit: "headLimit",
  },
  wireArgs: (args, context) => ({
    pattern: args.pattern,
    ...((args.path !== undefined || profileOf(context.compat).grepPath === "always") && {
      path: absolutePath(args.path ?? ".", context),
    }),
    ...(args.glob !== undefined && { glob: args.glob }),
    outputMode: args.outputMode ?? "content",
    caseInsensitive: args.caseInsensitive ?? false,
    multiline: args.multiline ?? false,
    toolCallId: context.callId,
  }),
  needs: (args, context) => [{ kind: "Read", target: absolutePath(args.path ?? ".", context) }],
  async run(args, context) {
    const mode = args.outputMode ?? "content";
    const search = await searchAt(args.path, context);
    const path = args.path === undefined ? "" : absolutePath(args.path, context);
    const filter = fileFilter(args.glob);
    const reader = { records: mode === "files_with_matches" ? namesOnly : records, keep: filter.test };
    const chosen = [...options(args, mode), ...filter.options];
    const output = await searchRecords(search, chosen, reader, context).catch((error) => {
      throw error instanceof ToolFailure && error.message.includes("regex") ? wrongPattern(error.message, path) : error;
    });
    const { key, result, lines, total } = views[mode](output.records, {
      most: Math.min(args.headLimit ?? maxResults, maxResults),
      // Format paths for the model the way its other tools accept them.
      spell: (file) => (search.folder === context.workspace ? file : join(search.folder, file)),
    });
    const value = {
      pattern: args.pattern,
      path,
      outputMode: mode,
      workspaceResults: { [search.folder]: { [key]: { ...result, ripgrepTruncated: output.cut } } },
    };
    const wanted = args.headLimit ?? maxShown;
    const limit = Math.min(context.resultLimit, wanted > maxShown ? context.resultLimit : maxCharacters);
    // headLimit counts only matches; their context lines are shown in addition.
    const offered = args.headLimit === undefined ? lines.slice(0, maxShown) : lines;
    const { text, left } = fittingLines(offered, limit);
    const shownCount = offered.length - left;
    const isCut = shownCount < lines.length || output.cut || result.clientTruncated;
    const note = isCut ? `\n[${total(shownCount, output.cut)}. Narrow pattern, path or glob, or set headLimit.]` : "";
    const unread = unreadNote(output.unread);
    return { outcome: { kind: "success", value }, text: (text || "No matches.") + note + unread };
  },
});

function options(args: GrepArguments, mode: OutputMode): string[] {
  // The second engine (PCRE2) supports look-around; it is used only for patterns that the default engine rejects.
  const chosen = [`--regexp=${args.pattern}`, "--engine=auto", "--null", "--with-filename", "--crlf"];
  if (args.caseInsensitive) chosen.push("--ignore-case");
  // Without the multiline option, ripgrep would silently find nothing for a pattern that contains a line feed.
  if (args.multiline || /\\n|\n/.test(args.pattern)) chosen.push("--multiline", "--max-filesize=256M");
  if (args.multiline) chosen.push("--multiline-dotall");
  if (mode === "files_with_matches") return [...chosen, "--files-with-matches"];
  if (mode === "count") return [...chosen, "--count-matches"];
  // --json is slower to write and to parse. The column limit is far above our own, so that ripgrep's marker never shows.
  chosen.push("--no-heading", "--line-number", "--no-context-separator");
  chosen.push(`--max-columns=${maxLineCharacters * 4}`, "--max-columns-preview");
  if (args.context) chosen.push(`--context=${args.context}`);
  if (args.before) chosen.push(`--before-context=${args.before}`);
  if (args.after) chosen.push(`--after-context=${args.after}`);
  return chosen;
}

/**
 * Ripgrep's --glob would also include files that ignore files hide. A file type does not, but matches only the last path component: it
 * filters most files, and the test the rest.
 */
function fileFilter(glob: string | undefined): { options: string[]; test(file: string): boolean } {
  if (glob === undefined || glob === "") return { options: [], test: () => true };
  const isExclusion = glob.startsWith("!");
  const pattern = isExclusion ? glob.slice(1) : glob;
  const test = pathTest(pattern);
  if (!test) throw failure(`The glob ${glob} has too many alternatives.`);
  if (isExclusion) return { options: [], test: (file) => !test(file) };
  const last = lastPart(pattern);
  return { options: last === undefined ? [] : [`--type-add=wanted:${last}`, "--type=wanted"], test };
}

type ViewOptions = { most: number; spell(file: string): string };
type GrepView = {
  key: string;
  result: { clientTruncated: boolean } & Record<string, unknown>;
  /** The formatted lines. The first line of each file starts with the file's name. */
  lines: string[];
  /** Describes the total when `shown` lines are shown. `isMore` means that there are others that were not counted. */
  total(shown: number, isMore: boolean): string;
};

function countText(count: number, unit: string): string {
  return `${count.toLocaleString("en-US")} ${unit}${count === 1 ? "" : "s"}`;
}

const views: Record<OutputMode, (found: Iterable<FoundRecord>, options: ViewOptions) => GrepView> = {
  content(found, { most, spell }) {
    const groups = linesByFile(found);
    const matches: { file: string; matches: FoundLine[] }[] = [];
    const lines: string[] = [];
    let totalLines = 0;
    let totalMatchedLines = 0;
    for (const file of [...groups.keys()].sort()) {
      const shownLines: FoundLine[] = [];
      for (const line of groups.get(file)!) {
        totalLines += 1;
        if (!line.isContextLine) totalMatchedLines += 1;
        if (totalMatchedLines <= most) shownLines.push(line);
      }
      if (shownLines.length === 0) continue;
      matches.push({ file: `./${file}`, matches: shownLines });
      for (const line of shownLines) {
        const name = line === shownLines[0] ? `${lines.length > 0 ? "\n" : ""}${spell(file)}\n` : "";
        const mark = line.isContextLine ? "-" : ":";
        lines.push(`${name}${line.lineNumber}${mark}${line.content}${line.contentTruncated ? "…" : ""}`);
      }
    }
    const clientTruncated = totalMatchedLines > most;
    const total = (shown: number, isMore: boolean) =>
      `${shown.toLocaleString("en-US")} of ${isMore ? "more than " : ""}${countText(totalLines, "line")} in ${countText(groups.size, "file")}`;
    return { key: "content", result: { matches, totalLines, totalMatchedLines, clientTruncated }, lines, total };
  },
  files_with_matches(found, { most, spell }) {
    const all = [...found].map(({ file }) => file).sort();
    const files = all.slice(0, most);
    const result = {
      files: files.map((file) => `./${file}`),
      totalFiles: all.length,
      clientTruncated: files.length < all.length,
    };
    return { key: "files", result, lines: files.map(spell), total: ofFiles(all.length) };
  },
  count(found, { most, spell }) {
    const all = [...found].map(({ file, rest }) => ({ file, count: Number(rest) }));
    all.sort((one, other) => (one.file < other.file ? -1 : 1));
    const firstItems = all.slice(0, most);
    const result = {
      counts: firstItems.map(({ file, count }) => ({ file: `./${file}`, count })),
      totalFiles: all.length,
      totalMatches: all.reduce((sum, { count }) => sum + count, 0),
      clientTruncated: firstItems.length < all.length,
    };
    const lines = firstItems.map(({ file, count }) => `${spell(file)}: ${count}`);
    return { key: "count", result, lines, total: ofFiles(all.length) };
  },
};

function ofFiles(count: number): GrepView["total"] {
  return (shown, isMore) =>
    `${shown.toLocaleString("en-US")} of ${isMore ? "more than " : ""}${countText(count, "file")}`;
}

type FoundLine = { lineNumber: number; content: string; contentTruncated: boolean; isContextLine: boolean };

function linesByFile(found: Iterable<FoundRecord>): Map<string, FoundLine[]> {
  const groups = new Map<string, FoundLine[]>();
  let current: string | undefined;
  let lines: FoundLine[] = [];
  for (const { file, rest } of found) {
    if (file !== current) {
      current = file;
      lines = groups.get(file) ?? [];
      groups.set(file, lines);
    }
    const number = Number.parseInt(rest, 10);
    const digits = String(number).length;
    const end = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    const contentTruncated = end - digits - 1 > maxLineCharacters;
    lines.push({
      lineNumber: number,
      content: rest.slice(digits + 1, contentTruncated ? digits + 1 + maxLineCharacters : end),
      contentTruncated,
      isContextLine: rest[digits] === "-",
    });
  }
  return groups;
}

/** Parses `name NUL rest LF`, where a name may contain line feeds. An incomplete record at the end is dropped. */
function* records(text: string): Generator<FoundRecord> {
  for (let start = 0; ; ) {
    const nul = text.indexOf("\0", start);
    const end = nul === -1 ? -1 : text.indexOf("\n", nul);
    if (end === -1) return;
    const name = text.slice(start, nul);
    const file = name.includes("\n") ? name.replace(binaryNotice, "") : name;
    yield { file: withoutDot(file), rest: text.slice(nul + 1, end) };
    start = end + 1;
  }
}

function namesOnly(text: string): FoundRecord[] {
  return namesIn(text).map((file) => ({ file, rest: "" }));
}

/** Printed between records when a match came before ripgrep detected that the file is binary. */
const binaryNotice = /^(?:.*: (?:binary file matches|WARNING: stopped searching binary file after match) \(.*\)\n)+/;

/** Returns the error for an invalid pattern: ripgrep's two engines both report one, and the first is kept. */
function wrongPattern(stderrText: string, path: string): ToolFailure {
  const first = /~{3,}\n([\s\S]*?)\n~{3,}/.exec(stderrText)?.[1] ?? stderrText.replace(/^rg: /, "");
  const hint = "Escape ( ) [ ] { } . * + ? | ^ $ with a backslash to match them literally.";
  return failure(`${first}\n${hint}`, path === "" ? {} : { path });
}
