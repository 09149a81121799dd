// Ripgrep: where the binary is, how a search runs, which files it may see.
import { closeSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../policy/paths.ts";
import { UserError } from "../protocol/error-codes.ts";
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
import { moment, settledFolders } from "./settled-files.ts";
import { failure, type ToolContext } from "./tools/tool.ts";

let found: string | undefined;

/** Asks the package, from wherever this code lies: source file or bundled chunk. */
export function ripgrepPath(): string {
  found ??= locate();
  return found;
}

function locate(): string {
  try {
    // A bundle in CommonJS has no import.meta.
    const here = createRequire(typeof __filename === "string" ? __filename : import.meta.url);
    // The binary is in a package of the platform that only the main package can be sure to see.
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

/** Of a context, what a run needs, and what decides on files. */
type Runs = Pick<ToolContext, "processes" | "signal">;
type Reads = Pick<ToolContext, "mayRead">;

/** Where a search starts. `folder`: what names in results are relative to. `start`: the argument for ripgrep. */
export type Search = { folder: string; start: string; isFile: boolean };

export async function searchAt(path: string | undefined, place: SearchContext): Promise<Search> {
  const { real, isFile } = await realFolder(absolutePath(path ?? ".", place), place);
  if (isInside(real, place.workspace))
    return { folder: place.workspace, start: `./${relative(place.workspace, real)}`, isFile };
  return isFile
    ? { folder: dirname(real), start: `./${basename(real)}`, isFile }
    : { folder: real, start: "./", isFile };
}

/** A name as ripgrep said it, without "./", and what stands beside it. */
export type FoundRecord = { file: string; rest: string };

export type SearchReader = {
  /** The records in what ripgrep said. */
  records(text: string): Iterable<FoundRecord>;
  keep(file: string): boolean;
};

/**
 * What ripgrep finds. It goes by names, and a name may lead elsewhere while it looks: so a file whose way there changed in
 * the meantime is opened here, where its path may not lead astray, and searched once more by that handle. `cut`: there was more.
 */
export async function searchRecords(
  search: Search,
  args: readonly string[],
  { records, keep }: SearchReader,
  context: SearchContext,
): Promise<{ records: Iterable<FoundRecord>; cut: boolean; unread: string[] }> {
  const root = holdFolder(search);
  try {
    const start = moment();
    const output = await runRipgrep([...visibility(search.folder), ...args, "--", search.start], root.at(""), context);
    const unread = unreadIn(output, search, context);
    const kept = new Map<string, boolean>();
    for (const { file } of records(output.text))
      if (!kept.has(file)) kept.set(file, keep(file) && isVisible(file, search, context));
    const files = [...kept.keys()].filter((file) => kept.get(file));
    const settled = settledFolders(files, root, start);
    const doubtful = new Set(files.filter((file) => !settled.has(dirname(file))));
    const again = doubtful.size > 0 ? await searchHeld([...doubtful], search, { args, records }, context) : undefined;
    return {
      records: (function* () {
        for (const record of records(output.text))
          if (kept.get(record.file) && !doubtful.has(record.file)) yield record;
        yield* again?.found ?? [];
      })(),
      cut: output.cut || again?.cut === true,
      unread,
    };
  } finally {
    root.close();
  }
}

/** So many handles at a time: a process may have 1,024. */
const mostHeld = 200;

/** The same search in files that are held open. What is not where its name says is left out. */
async function searchHeld(
  files: readonly string[],
  { folder }: Search,
  { args, records }: Pick<SearchReader, "records"> & { args: readonly string[] },
  context: SearchContext,
): Promise<{ found: FoundRecord[]; cut: boolean }> {
  const found: FoundRecord[] = [];
  let cut = false;
  for (let at = 0; at < files.length; at += mostHeld) {
    const held = new Map<string, { file: string; handle: FileHandle }>();
    try {
      for (const file of files.slice(at, at + mostHeld)) {
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

/** `cut`: there was more, and the last record may be half. `said`: of what could not be read. */
type SearchOutput = { text: string; cut: boolean; said: string };

const mostBytes = 8 * 1024 * 1024;
const mostMs = 60_000;

/** One run of ripgrep. Ends it when it has said more than anyone can use or takes too long; `cut` tells. */
async function runRipgrep(args: readonly string[], cwd: string, context: Runs): Promise<SearchOutput> {
  const chunks: Buffer[] = [];
  let size = 0;
  const running = context.processes.start({
    command: [ripgrepPath(), "--no-config", "--color=never", "--no-ignore-messages", ...args],
    cwd,
    signal: context.signal,
    timeoutMs: mostMs,
    keepBytes: 64 * 1024,
    leftovers: "ignore",
    onOutput(stream, chunk) {
      if (stream !== "stdout" || size >= mostBytes) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size >= mostBytes) running.stop();
    },
  });
  const end = await running.ended;
  const cut = size >= mostBytes || end.timedOut;
  if (end.cancelled && !cut) throw failure("The search was cancelled.");
  // 1: nothing found. 2: some files could not be read; or, said before any is looked at, the pattern is at fault.
  const said = end.stderr.trim();
  if (end.exitCode === 2 && said !== "" && !/^rg: [./]|\(os error \d+\)/.test(said)) throw failure(said);
  return { text: Buffer.concat(chunks).toString("utf8"), cut, said };
}

/** What this user may not read, without "./". Throws where that is the very place that was to be searched. */
function unreadIn({ said }: SearchOutput, search: Search, place: Reads): string[] {
  const gone = new Set(["2", "20", "40"]); // ENOENT, ENOTDIR, ELOOP: it went away while ripgrep looked
  const unread = said.split("\n").flatMap((line) => {
    const [, file, code] = /^rg: (.+?): .*\(os error (\d+)\)$/.exec(line) ?? [];
    return file === undefined || gone.has(code!) ? [] : withoutDot(file);
  });
  if (unread.includes(withoutDot(search.start)))
    throw describe({ code: "EACCES" }, join(search.folder, search.start), "read");
  return unread.filter((file) => isVisible(file, search, place)).sort();
}

const mostUnread = 5;

/** For the end of a result: a model that is not told takes what it may not read for empty. */
export function unreadNote(unread: readonly string[]): string {
  if (unread.length === 0) return "";
  const more = unread.length > mostUnread ? ` and ${unread.length - mostUnread} more` : "";
  return `\n[Permission denied, not searched: ${unread.slice(0, mostUnread).join(", ")}${more}]`;
}

/**
 * The files below the start that no ignore file hides, in path order, relative to the search's folder, without "./". What is
 * not wanted is left out before anything is asked about it.
 */
export async function listFiles(
  search: Search,
  context: Runs & Reads,
  isWanted: (file: string) => boolean = () => true,
): Promise<{ files: string[]; cut: boolean; unread: string[] }> {
  const root = holdFolder(search);
  try {
    const start = moment();
    // Without "./" in the argument there is none in the names, of which it would have to be taken off one by one.
    const below = search.start === "./" ? [] : [withoutDot(search.start)];
    const args = [...visibility(search.folder), "--files", "--null", "--", ...below];
    const output = await runRipgrep(args, root.at(""), context);
    const unread = unreadIn(output, search, context);
    const files = namesIn(output.text, (file) => isWanted(file) && isVisible(file, search, context));
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

/** The wanted ones among names that end in NUL each; a half one at the end has none. One by one: there may be a million. */
export function namesIn(text: string, isWanted: (name: string) => boolean = () => true): string[] {
  const names: string[] = [];
  for (let at = 0, end = text.indexOf("\0"); end !== -1; at = end + 1, end = text.indexOf("\0", at)) {
    const name = withoutDot(text.slice(at, end));
    if (isWanted(name)) names.push(name);
  }
  return names;
}

/** Tells whether a file is really at its path, by what its folder holds when it is asked first. */
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
  try {
    return entriesAt(folder).flatMap((entry) => (entry.isFile() ? entry.name : []));
  } catch {
    return []; // gone, or behind a link
  }
}

function holdFolder({ folder }: Search): FolderHandle {
  try {
    return openFolder(folder);
  } catch (error) {
    throw describe(error, folder, "search");
  }
}

function openOrNothing(path: string): FileHandle | undefined {
  try {
    return openRegularFile(path);
  } catch {
    return undefined; // gone, or behind a link
  }
}

export function isVisible(file: string, search: Search, place: Reads): boolean {
  return place.mayRead?.(inFolder(search.folder, file)) ?? true;
}

export function withoutDot(file: string): string {
  return file.startsWith("./") ? file.slice(2) : file;
}

/** Hidden files count, git's own do not. Ignore files count also where there is no repository. */
function visibility(folder: string): string[] {
  const args = ["--hidden", "--glob=!.git"];
  const ignoreFiles = [".cursorignore", ".cursorindexingignore"];
  if (!findGit(folder)) {
    // A .gitignore above the folder then belongs to something else: dotfiles kept in a home directory ignore all.
    args.push("--no-require-git", "--no-ignore-parent");
    ignoreFiles.unshift(".gitignore");
  }
  for (const name of ignoreFiles) {
    const file = join(folder, name);
    if (existsSync(file)) args.push(`--ignore-file=${file}`);
  }
  return args;
}
