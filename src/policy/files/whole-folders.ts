// Finds folders that a line removes, moves, empties, or gives another mode or owner with all their contents.
import { basename, dirname, join } from "node:path";
import type { ShellWord } from "../parse/shell-word.ts";
import { linkAt, type ResolvedPath, realOrSame, withHome } from "../paths.ts";
import { quotedTexts } from "../programs/code-files.ts";
import type { ProgramStart, StartedPrograms } from "../starts/wrappers.ts";
import { isFoundWhole, mirroredFolders, opened, removedPaths } from "./copies.ts";
import { type LineDirectories, type ShellSituation, touchOf } from "./shell-paths.ts";

/** `remove`: removed, moved or emptied. `open`: given another mode or owner, with all its contents. */
export type WholeChange = "remove" | "open";

/** A change of a folder with all its contents. `isEmptied` means that the folder itself stays. */
export type WholeFolder = { folder: string; change: WholeChange; isEmptied?: true };

export function wholeFolders(
  runs: StartedPrograms,
  directories: LineDirectories,
  situation: ShellSituation,
): WholeFolder[] {
  const byCommands = runs.runs.flatMap((run) => {
    const foldersOf = (word: ShellWord, change: WholeChange) =>
      touchOf(dropGuesses(word, run), directories.at(run), situation).paths.flatMap((path) =>
        foldersAt(path, word, change),
      );
    return [
      ...[...removedPaths(run), ...mirroredFolders(run)].flatMap((word) => foldersOf(word, "remove")),
      ...opened(run).flatMap((word) => foldersOf(word, "open")),
    ];
  });
  const byCode = runs.code.flatMap(({ text }) => removedByCode(text));
  const inCode = byCode.map((path) => ({ folder: withHome(path, situation.home), change: "remove" as const }));
  return [...byCommands, ...inCode];
}

/** Drops possible values that apply only if a variable is unset, or that stand for all of a filtered list. */
function dropGuesses(word: ShellWord, run: ProgramStart): ShellWord {
  if (!word.dynamic || word.origin === "made") return word;
  if (word.origin !== "names" || !isFoundWhole(run)) return { ...word, others: [] };
  // `ls folder | xargs -I{} rm folder/{}` removes the folder's contents.
  const [lead] = word.pieces ?? [];
  const isInto = lead?.kind === "text" && lead.value.endsWith("/");
  const filled = isInto ? [{ ...word, value: `${lead.value}*`, dynamic: false, glob: true }] : [];
  return { ...word, others: [...(word.others ?? []), ...filled] };
}

/** Matches a last part of a path that stands for all names: `*`, `.*`, `.[!.]*`. */
const everything = /^(?=.*\*)(?:[.*?]|\[[!^][^\]]*\])+$/;

function foldersAt({ given, real }: ResolvedPath, { value }: ShellWord, change: WholeChange): WholeFolder[] {
  const all = (...folders: string[]) => [...new Set(folders)].map((folder) => ({ folder, change }));
  if (everything.test(basename(given))) {
    let folder = given;
    while (everything.test(basename(folder))) folder = dirname(folder);
    return all(folder, realOrSame(folder)).map((each) => ({ ...each, isEmptied: true }));
  }
  // Skip a link: removing it does not remove its target.
  if (linkAt(given) !== undefined && !/\/\.?$/.test(value))
    return all(given, join(realOrSame(dirname(given)), basename(given)));
  return all(given, real);
}

/** Matches function calls that remove a folder with all its contents. */
const removesTree =
  /\b(rmtree|rm_rf?|remove_(tree|dir_all|all|entry\w*)|RemoveAll|rimraf|rm(dir)?(Sync)?(?=\s*\([^)]{0,200}recursive)|removeSync|emptyDir(Sync)?|removeDirectory|deleteRecursively)\b/;
/** Matches `rm -rf folder`, as one string or as several arguments, for a shell or a call that starts programs. */
const removingCommand = /\brm(?:["'`,\s]+-[\w-]+)+["'`,\s]+([/~][^\s"'`;|&),]*)/g;

/** Returns the folders named by code that removes whole folders. */
function removedByCode(code: string): string[] {
  const commands = Array.from(code.matchAll(removingCommand), ([, path]) => path!);
  const named = removesTree.test(code) ? quotedTexts(code).filter((text) => /^[/~]/.test(text)) : [];
  return [...commands, ...named].map((path) => path.replace(/\/+[*.]?$/, "") || "/");
}
