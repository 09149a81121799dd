// Reads small text files safely: size-limited, regular files only, and only where their links may lead.
import {
  accessSync,
  closeSync,
  constants,
  type Dirent,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { isInside, shownPath } from "../../policy/paths.ts";
import { wholeLength } from "../../process/bounded-bytes.ts";
import { tryOr } from "../../text/try-or.ts";
import { openRegularFile } from "../folder-handle.ts";
import { decodeText } from "../text-file.ts";

export const hiddenReason = "an ignore file or a deny rule hides it from the agent";

type NotRead = { type: "missing" } | { type: "problem"; reason: string };
type TextRead = NotRead | { type: "text"; text: string; real: string; size: number; isCut: boolean };
type BytesRead = NotRead | { type: "bytes"; bytes: Buffer; real: string; size: number };

/** `within` lists real folders that must contain the real file; by default it may be anywhere. `isIgnored` hides files. */
export type ReadLimits = {
  within?: readonly string[] | undefined;
  isIgnored?: ((path: string) => boolean) | undefined;
};

export function readBytes(path: string, options: ReadLimits & { limit: number }): BytesRead {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return { type: "missing" };
    if (!stat.isFile()) return { type: "problem", reason: "it is not a regular file" };
    const real = realpathSync.native(path);
    if (options.within && !options.within.some((folder) => isInside(real, folder))) {
      return {
        type: "problem",
        reason: "it links outside the workspace; add that directory with --add-dir",
      };
    }
    // Check both paths: a link anyone could create would reveal a hidden target.
    if (options.isIgnored?.(path) || options.isIgnored?.(real)) return { type: "problem", reason: hiddenReason };
    const { descriptor, stat: opened } = openRegularFile(real);
    try {
      const bytes = Buffer.alloc(Math.min(opened.size, options.limit));
      let filled = 0;
      while (filled < bytes.length) {
        const count = readSync(descriptor, bytes, filled, bytes.length - filled, filled);
        if (count === 0) break;
        filled += count;
      }
      return { type: "bytes", bytes: bytes.subarray(0, filled), real, size: opened.size };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return readProblem(error);
  }
}

/** Returns the text with LF line endings and without a byte order mark, cut after a whole line if it is too long. */
export function readText(path: string, options: ReadLimits & { limit: number }): TextRead {
  const read = readBytes(path, options);
  if (read.type !== "bytes") return read;
  const isCut = read.size > read.bytes.length;
  const decoded = decodeText(isCut ? read.bytes.subarray(0, wholeLength(read.bytes)) : read.bytes);
  if (!decoded) return { type: "problem", reason: "it is not text" };
  const text = decoded.text.replaceAll("\r\n", "\n");
  return { type: "text", text: isCut ? wholeLines(text) : text, real: read.real, size: read.size, isCut };
}

/** Lists a folder sorted by name, so that every run gives the same result. `what` names the entries in the warning. */
export function entriesIn(folder: string, options: { what: string; workspace: string; warnings: string[] }): Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    const problem = readProblem(error);
    if (problem.type === "problem")
      options.warnings.push(
        `${options.what} in ${shownPath(folder, options.workspace)} were left out: ${problem.reason}.`,
      );
    return [];
  }
}

/** Returns the stat data of a path, following links; undefined if it does not exist or is not accessible. */
export function statOrNothing(path: string): Stats | undefined {
  return tryOr(() => statSync(path, { throwIfNoEntry: false }), undefined);
}

/** Returns whether this user cannot reach anything below the folder. */
export function isClosed(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return false;
  } catch (error) {
    return readProblem(error).type === "problem";
  }
}

export function readProblem(error: unknown): NotRead {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === "ENOENT" || code === "ENOTDIR") return { type: "missing" };
  if (code === "EACCES" || code === "EPERM")
    return { type: "problem", reason: "it cannot be read (permission denied)" };
  return { type: "problem", reason: `it cannot be read (${code ?? String(error)})` };
}

function wholeLines(text: string): string {
  const lastBreak = text.lastIndexOf("\n");
  return lastBreak > text.length / 2 ? text.slice(0, lastBreak + 1) : text;
}
