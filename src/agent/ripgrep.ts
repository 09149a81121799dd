// Ripgrep: where the binary is, how a search runs, which files it may see.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../policy/paths.ts";
import { UserError } from "../protocol/error-codes.ts";
import { absolutePath, type FileContext, realFolder } from "./files.ts";
import { findGit } from "./instructions/environment.ts";
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

/** `cut`: there was more, and the last record may be half. */
type SearchOutput = { text: string; cut: boolean };

const mostBytes = 8 * 1024 * 1024;
const mostMs = 60_000;

/** One run of ripgrep. Ends it when it has said more than anyone can use or takes too long; `cut` tells. */
export async function runRipgrep(search: Search, args: readonly string[], context: Runs): Promise<SearchOutput> {
  const chunks: Buffer[] = [];
  let size = 0;
  const running = context.processes.start({
    command: [ripgrepPath(), "--no-config", "--color=never", ...visibility(search.folder), ...args, "--", search.start],
    cwd: search.folder,
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
  // 1: nothing found. 2 with messages about files silenced: the pattern is at fault.
  if (end.exitCode === 2 && end.stderr.trim() !== "") throw failure(end.stderr.trim());
  return { text: Buffer.concat(chunks).toString("utf8"), cut };
}

/** The files below the start that no ignore file hides, in path order, relative to the search's folder, without "./". */
export async function listFiles(search: Search, context: Runs & Reads): Promise<{ files: string[]; cut: boolean }> {
  const { text, cut } = await runRipgrep(search, ["--files", "--null"], context);
  const files = text.split("\0").slice(0, -1); // each name ends in NUL; a half name has none
  return {
    files: files
      .map(withoutDot)
      .filter((file) => isVisible(file, search, context))
      .sort(),
    cut,
  };
}

export function isVisible(file: string, search: Search, place: Reads): boolean {
  return place.mayRead?.(join(search.folder, file)) ?? true;
}

export function withoutDot(file: string): string {
  return file.startsWith("./") ? file.slice(2) : file;
}

/** Hidden files count, git's own do not. Ignore files count also where there is no repository. */
function visibility(folder: string): string[] {
  const args = ["--hidden", "--glob=!.git", "--no-messages"];
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
