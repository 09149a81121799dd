// Reads JSON Lines files of other programs in chunks; damaged lines are counted and skipped.
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { tryParse } from "../../json/object.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { systemErrorText } from "../../text/system-error.ts";
import { tryOr } from "../../text/try-or.ts";
import type { SessionFile } from "./session.ts";

const pieceBytes = 1 << 20;
/** The maximum size of a line; a longer one is treated as damaged. */
const maxLineBytes = 256 << 20;

/** Calls `take` with each value in order until it returns "enough"; returns the number of lines that were not JSON. */
export function readJsonLines(path: string, take: (value: unknown) => unknown): number {
  let bad = 0;
  let pieces: Buffer[] = [];
  let length = 0;
  const file = open(path);
  try {
    while (true) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const count = readSync(file, piece, 0, pieceBytes, null);
      let from = 0;
      for (let end = piece.indexOf(10); end !== -1 && end < count; end = piece.indexOf(10, from)) {
        if (end > from) bufferPart(piece.subarray(from, end));
        from = end + 1;
        if (parseLine() === "enough") return bad;
      }
      if (from < count) bufferPart(piece.subarray(from, count));
      if (count === 0) break;
    }
    parseLine();
  } finally {
    closeSync(file);
  }
  return bad;

  function bufferPart(part: Buffer): void {
    length += part.length;
    if (length <= maxLineBytes) pieces.push(part);
  }

  function parseLine(): unknown {
    const text = length > maxLineBytes ? "{" : Buffer.concat(pieces).toString("utf8").trim();
    pieces = [];
    length = 0;
    if (text === "") return undefined;
    const value = tryParse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    if (value !== undefined) return take(value);
    bad++;
    return undefined;
  }
}

/** The first values of a file, to detect its format. A file that is one JSON value gives that value. */
export function firstValues(path: string, most = 20): unknown[] {
  const values: unknown[] = [];
  const bad = readJsonLines(path, (value) => {
    values.push(value);
    return values.length < most ? undefined : "enough";
  });
  if (values.length > 0 && bad === 0) return values;
  const whole = readJson(path);
  return whole === undefined ? values : [whole];
}

/** How many lines at the beginning of a session are searched for fields that every session has there. */
const maxGlanced = 200;

/** Returns the first text that `textIn` finds in a line of the file. */
export function firstText(path: string, textIn: (value: unknown) => string | undefined | false): string | undefined {
  let found: string | undefined;
  let count = 0;
  readJsonLines(path, (value) => {
    found ??= textIn(value) || undefined;
    return found !== undefined || ++count >= maxGlanced ? "enough" : undefined;
  });
  return found;
}

/** Reads a JSON file. Returns undefined if it cannot be parsed. */
export function readJson(path: string): unknown {
  const file = open(path);
  try {
    const { size } = statSync(path);
    if (size > maxLineBytes) return undefined;
    const bytes = Buffer.alloc(size);
    const count = readSync(file, bytes, 0, size, 0);
    return tryParse(
      bytes
        .subarray(0, count)
        .toString("utf8")
        .replace(/^\uFEFF/, ""),
    );
  } finally {
    closeSync(file);
  }
}

function open(path: string): number {
  try {
    if (statSync(path).isFile()) return openSync(path, "r");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : systemErrorText(error);
    throw new UserError("FILE_UNREADABLE", `${path}: the session cannot be read: ${why}.`);
  }
  throw new UserError("FILE_UNREADABLE", `${path}: the session cannot be read: it is not a file.`);
}

/** Lists files below a folder whose relative path is wanted, newest first. Unreadable folders are skipped. */
export function filesBelow(folder: string, isWanted: (relativePath: string) => boolean, depth = 6): SessionFile[] {
  const found: SessionFile[] = [];
  const visit = (relative: string, left: number): void => {
    for (const entry of tryOr(() => readdirSync(join(folder, relative), { withFileTypes: true }), [])) {
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory() && left > 0) visit(path, left - 1);
      else if (entry.isFile() && isWanted(path)) found.push({ path: join(folder, path), updatedAt: 0 });
    }
  };
  visit("", depth);
  for (const file of found) file.updatedAt = tryOr(() => Math.round(statSync(file.path).mtimeMs), 0);
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.path < b.path ? -1 : 1));
}
