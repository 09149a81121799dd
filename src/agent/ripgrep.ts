// Runs ripgrep: locates the binary, runs searches, and decides which files they may see.
import { closeSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../policy/paths.ts";
import { watchIrregularFiles } from "../process/irregular-files.ts";
import { UserError } from "../protocol/error-codes.ts";
import { firstOf } from "../text/first-of.ts";
import { tryOr } from "../text/try-or.ts";
import { absolutePath, describe, type FileContext, realFolder } from "./files.ts";
import {
  entriesAt,
  type FileHandle,
  type FolderHandle,
  inFolder,
  isStillThere,
  openFolder,
  openRegularFile,
} from "./folder-handle.ts";
import { findGit } from "./instructions/environment.ts";
import { statOrNothing } from "./instructions/read-text.ts";
import { currentMoment, settledFolders } from "./settled-files.ts";
import { failure, type ToolContext } from "./tools/tool.ts";

let found: string | undefined;

/** Resolves the binary through its package, whether this code is a source file or a bundled chunk. */
export function ripgrepPath(): string {
  found ??= locate();
  return found;
}

function locate(): string {
  try {
    // A CommonJS bundle has no import.meta, so use __filename there.
    const here = createRequire(typeof __filename === "string" ? __filename : import.meta.url);
    // The binary is in a platform package that only the main package is sure to resolve.
    const there = createRequire(here.resolve("@vscode/ripgrep"));
    const binary = process.platform === "win32" ? "rg.exe" : "rg";
    return there.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${binary}`);
  } catch {
    throw new UserError(
      "CLI_NOT_FOUND",
      `ripgrep for ${process.platform}-${process.arch} is not installed: searching needs it. ` +
        "Reinstall with optional dependencies: npm install --include=optional",
    );
  }
}

type SearchContext = ToolContext & FileContext;

/** The part of the context that running needs, and the part that decides which files are visible. */
type Runs = Pick<ToolContext, "processes" | "signal">;
type Reads = Pick<ToolContext, "mayRead">;

/** Where a search starts. Names in results are relative to `folder`; `start` is the path that ripgrep receives. */
export type Search = { folder: string; start: string; isFile: boolean };

export async function searchAt(path: string | undefined, place: SearchContext): Promise<Search> {
  const { real, isFile } = await realFolder(absolutePath(path ?? ".", place), place);
  if (isInside(real, place.workspace))
    return { folder: place.workspace, start: `./${relative(place.workspace, real)}`, isFile };
  return isFile
    ? { folder: dirname(real), start: `./${basename(real)}`, isFile }
    : { folder: real, start: "./", isFile };
}

/** A file name in ripgrep's output, without "./", and the rest of its record. */
export type FoundRecord = { file: string; rest: string };

export type SearchReader = {
  /** Parses the records in ripgrep's output. */
  records(text: string): Iterable<FoundRecord>;
  keep(file: string): boolean;
};

/**
 * Runs a search. Ripgrep goes by names, and a name may lead elsewhere while it runs, so a file whose path changed in the meantime is opened
 * here without following links and searched again through that handle. `cut` means that there was more.
 */
export async function searchRecords(
  search: Search,
  args: readonly string[],
  { records, keep }: SearchReader,
  context: SearchContext,
): Promise<{ records: Iterable<FoundRecord>; cut: boolean; unread: string[] }> {
  const root = holdFolder(search);
  try {
    const start = currentMoment();
    const output = await runRipgrep([...visibility(search.folder), ...args, "--", search.start], root.at(""), context);
    const unread = unreadIn(output, search, context);
    const verdicts = new Map<string, boolean>();
    for (const { file } of records(output.text))
      if (!verdicts.has(file)) verdicts.set(file, keep(file) && isVisible(file, search, context));
    const files = [...verdicts.keys()].filter((file) => verdicts.get(file));
    const settled = settledFolders(files, root, start);
    const doubtful = new Set(files.filter((file) => !settled.has(dirname(file))));
    const again = doubtful.size > 0 ? await searchHeld([...doubtful], search, { args, records }, context) : undefined;
    return {
      records: (function* () {
        for (const record of records(output.text))
          if (verdicts.get(record.file) && !doubtful.has(record.file)) yield record;
        yield* again?.found ?? [];
      })(),
      cut: output.cut || again?.cut === true,
      unread,
    };
  } finally {
    root.close();
  }
}

/** The maximum number of files that are open at the same time: a process may have only 1,024 handles. */
const maxHeld = 200;

/** Runs the same search on files held open. Files that are not where their name says are left out. */
async function searchHeld(
  files: readonly string[],
  { folder }: Search,
  { args, records }: Pick<SearchReader, "records"> & { args: readonly string[] },
  context: SearchContext,
): Promise<{ found: FoundRecord[]; cut: boolean }> {
  const found: FoundRecord[] = [];
  let cut = false;
  for (let at = 0; at < files.length; at += maxHeld) {
    const held = new Map<string, { file: string; handle: FileHandle }>();
    try {
      for (const file of files.slice(at, at + maxHeld)) {
        const handle = openOrNothing(join(folder, file));
        if (handle) held.set(handle.at, { file, handle });
      }
      if (held.size === 0) continue;
      const output = await runRipgrep([...args, "--", ...held.keys()], folder, context);
      cut ||= output.cut;
      for (const { file, rest } of records(output.text)) {
        const source = held.get(file);
        if (source && isStillThere(source.handle)) found.push({ file: source.file, rest });
      }
    } finally {
      for (const { handle } of held.values()) closeSync(handle.descriptor);
    }
  }
  return { found, cut };
}

/** The output of a search. `cut` means that it was truncated; `errors` is stderr, which lists what could not be read. */
type SearchOutput = { text: string; cut: boolean; errors: string };

const maxBytes = 8 * 1024 * 1024;
const maxMs = 60_000;
/** Removes the arguments that name ignore files. */
const withoutIgnoring = "--no-ignore";

/** Runs ripgrep, without ignore files if one of them is a pipe or a device. `cut` is set if it prints too much or takes too long. */
async function runRipgrep(args: readonly string[], cwd: string, context: Runs): Promise<SearchOutput> {
  const chunks: Buffer[] = [];
  let size = 0;
  const watch = watchIrregularFiles(cwd);
  const running = context.processes.start({
    command: [ripgrepPath(), "--no-config", "--color=never", "--no-ignore-messages", ...args],
    cwd,
    signal: AbortSignal.any([context.signal, watch.signal]),
    timeoutMs: maxMs,
    keepBytes: 64 * 1024,
    leftovers: "ignore",
    onOutput(stream, chunk) {
      if (stream !== "stdout" || size >= maxBytes) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) running.stop();
    },
  });
  const end = await running.ended;
  if (watch.end() !== undefined && args[0] !== withoutIgnoring && !context.signal.aborted)
    return runRipgrep([withoutIgnoring, ...args], cwd, context);
  const cut = size >= maxBytes || end.timedOut;
  if (end.cancelled && !cut) throw failure("The search was cancelled.");
  // Exit code 1: nothing found. 2: some files could not be read or, if reported before any file, the pattern is invalid.
  const errorOutput = end.stderr.trim();
  if (end.exitCode === 2 && errorOutput !== "" && !/^rg: [./]|\(os error \d+\)/.test(errorOutput))
    throw failure(errorOutput);
  return { text: Buffer.concat(chunks).toString("utf8"), cut, errors: errorOutput };
}

/** Returns the files that this user may not read, without "./". Throws when the start of the search itself is unreadable. */
function unreadIn({ errors }: SearchOutput, search: Search, place: Reads): string[] {
  // error numbers ENOENT, ENOTDIR and ELOOP: the file was removed during the search
  const gone = new Set(["2", "20", "40"]);
  const unread = errors.split("\n").flatMap((line) => {
    const [, file, code] = /^rg: (.+?): .*\(os error (\d+)\)$/.exec(line) ?? [];
    return file === undefined || gone.has(code!) ? [] : withoutDot(file);
  });
  if (unread.includes(withoutDot(search.start)))
    throw describe({ code: "EACCES" }, join(search.folder, search.start), "read");
  return unread.filter((file) => isVisible(file, search, place)).sort();
}

const maxUnread = 5;

/** Returns a note for the end of a result: without it, a model takes unreadable files for empty. */
export function unreadNote(unread: readonly string[]): string {
  if (unread.length === 0) return "";
  return `\n[Permission denied, not searched: ${firstOf(unread, maxUnread)}]`;
}

/** `isWanted` filters before permissions are checked; `needed` is text that every wanted path contains. */
export type WantedFiles = { isWanted?(file: string): boolean; needed?: string };

/** Lists the files below the start that no ignore file hides, sorted by path, relative to the search's folder, without "./". */
export async function listFiles(
  search: Search,
  context: Runs & Reads,
  { isWanted = () => true, needed = "" }: WantedFiles = {},
): Promise<{ files: string[]; cut: boolean; unread: string[] }> {
  const root = holdFolder(search);
  try {
    const start = currentMoment();
    // An argument without "./" makes ripgrep print names without it, which saves stripping each one.
    const below = search.start === "./" ? [] : [withoutDot(search.start)];
    const args = [...visibility(search.folder), "--files", "--null", "--", ...below];
    const output = await runRipgrep(args, root.at(""), context);
    const unread = unreadIn(output, search, context);
    const files = namesIn(output.text, (file) => isWanted(file) && isVisible(file, search, context), needed);
    const settled = settledFolders(files, root, start);
    const isThere = presenceIn(search.folder);
    return {
      files: files.filter((file) => settled.has(dirname(file)) || isThere(file)).sort(),
      cut: output.cut,
      unread,
    };
  } finally {
    root.close();
  }
}

/** Returns the wanted names of a NUL-terminated list; an incomplete last one is dropped. Scans in place: there may be a million. */
export function namesIn(text: string, isWanted: (name: string) => boolean = () => true, needed = ""): string[] {
  const names: string[] = [];
  for (let at = text.indexOf(needed); at !== -1; ) {
    const end = text.indexOf("\0", at);
    if (end === -1) break;
    const start = needed === "" ? at : text.lastIndexOf("\0", at) + 1;
    const name = withoutDot(text.slice(start, end));
    if (isWanted(name)) names.push(name);
    at = needed === "" ? end + 1 : text.indexOf(needed, end + 1);
  }
  return names;
}

/** Returns a test of whether a file is really at its path, from a cached listing of its folder. */
function presenceIn(root: string): (file: string) => boolean {
  const known = new Map<string, ReadonlySet<string>>();
  return (file) => {
    const folder = dirname(file);
    const names = known.get(folder) ?? new Set(filesAt(join(root, folder)));
    known.set(folder, names);
    return names.has(basename(file));
  };
}

function filesAt(folder: string): string[] {
  // The file was removed, or is behind a symbolic link.
  return tryOr(() => entriesAt(folder).flatMap((entry) => (entry.isFile() ? entry.name : [])), []);
}

function holdFolder({ folder }: Search): FolderHandle {
  try {
    return openFolder(folder);
  } catch (error) {
    throw describe(error, folder, "search");
  }
}

function openOrNothing(path: string): FileHandle | undefined {
  return tryOr(() => openRegularFile(path), undefined); // the file was removed, or is behind a symbolic link
}

export function isVisible(file: string, search: Search, place: Reads): boolean {
  return place.mayRead?.(inFolder(search.folder, file)) ?? true;
}

export function withoutDot(file: string): string {
  return file.startsWith("./") ? file.slice(2) : file;
}

/** Includes hidden files but not .git, and applies ignore files also outside a repository. */
function visibility(folder: string): string[] {
  const args = ["--hidden", "--glob=!.git"];
  const ignoreFiles = [".cursorignore", ".cursorindexingignore"];
  if (!findGit(folder)) {
    // Outside a repository, ignore the .gitignore of parent folders: the one in a home folder with dotfiles often
    // ignores everything.
    args.push("--no-require-git", "--no-ignore-parent");
    ignoreFiles.unshift(".gitignore");
  }
  for (const name of ignoreFiles) {
    const file = join(folder, name);
    if (statOrNothing(file)?.isFile()) args.push(`--ignore-file=${file}`);
  }
  return args;
}
