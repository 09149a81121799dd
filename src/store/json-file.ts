// Reads JSON files that people edit with strict checks, and saves them atomically.

import { isUtf8 } from "node:buffer";
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import { tryOr } from "../text/try-or.ts";
import { withFileLock } from "./file-lock.ts";
import { deepest, JsonTextError, parseJsonc } from "./jsonc.ts";

const maxBytes = 1024 * 1024;

/** Returns the object in a file, or undefined if there is no file. Any other problem is thrown. */
export function readJson(file: string): JsonObject | undefined {
  return readJsonText(file)?.value;
}

/** Reads a JSON object. Also returns the file's text, for callers that hash it. */
export function readJsonText(file: string): { value: JsonObject; text: string } | undefined {
  const bytes = readBytes(file);
  if (bytes === undefined) return undefined;
  const text = decode(file, bytes);
  const value = parseText(file, text);
  if (!isObject(value)) throw invalidFileError(file, "line 1, column 1: expected one object, { … }");
  return { value, text };
}

/**
 * Reads, changes and writes a file under a lock. `update` gets a copy that it may keep or change, and returns undefined to leave
 * the file alone. A file that cannot be read is never overwritten.
 */
export function saveJson(file: string, update: (current: JsonObject) => JsonObject | undefined): void {
  makeFolder(dirname(file));
  withFileLock(`${file}.lock`, (stillOurs) => {
    const next = update(readJson(file) ?? {});
    if (next !== undefined) replaceFile(file, `${JSON.stringify(next, null, 2)}\n`, stillOurs);
  });
}

/** Replaces a file atomically. A new file is owner-only; an existing one keeps its mode. A link stays a link. */
export function replaceFile(file: string, text: string, mayStillWrite: () => boolean = () => true): void {
  makeFolder(dirname(file));
  const target = realPathOrSame(file);
  const temporary = `${target}.${process.pid}.${process.hrtime.bigint().toString(36)}.tmp`;
  try {
    const mode = statSync(target, { throwIfNoEntry: false })?.mode;
    const handle = openSync(temporary, "wx", 0o600);
    try {
      if (mode !== undefined) fchmodSync(handle, mode & 0o777);
      writeFileSync(handle, text); // writeFileSync writes everything, even if the system splits the write
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (!mayStillWrite())
      throw new UserError("STORE_FAILED", `${file} was not saved: another process took over its lock. Try again.`);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (error instanceof UserError) throw error;
    throw new UserError(
      "STORE_FAILED",
      `${file} could not be saved (${errorCode(error)}). Check the directory's owner and free space.`,
    );
  }
}

export function makeFolder(folder: string, mode = 0o700): void {
  try {
    mkdirSync(folder, { recursive: true, mode });
  } catch (error) {
    throw new UserError("STORE_FAILED", `The directory ${folder} could not be created (${errorCode(error)}).`);
  }
}

function readBytes(file: string): Buffer | undefined {
  try {
    // Avoid an exception: most of these files are missing, and a stack trace costs more than the check.
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) {
      if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
        throw unreadableFileError(file, "it is a broken link");
      return undefined;
    }
    if (!stat.isFile()) throw unreadableFileError(file, "it is not a regular file");
    if (stat.size > maxBytes) {
      throw new UserError(
        "CONFIG_TOO_LARGE",
        `${file} has ${stat.size} bytes; the limit is ${maxBytes}. Make it shorter.`,
      );
    }
    // Check the permission for root too, who could always read: a file without read permission should not be read.
    const readable = stat.uid === process.getuid?.() ? 0o400 : 0o444;
    if (process.platform !== "win32" && (stat.mode & readable) === 0)
      throw unreadableFileError(file, "its owner may not read it");
    return readFileSync(file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return undefined;
    throw unreadableFileError(file, systemErrorText(error));
  }
}

function decode(file: string, bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!isUtf8(bytes)) {
    const { line, column, message } = new JsonTextError(
      "this is not UTF-8 text; save the file as UTF-8",
      text,
      text.indexOf("\ufffd"),
    );
    throw invalidFileError(file, `line ${line}, column ${column}: ${message}`);
  }
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function parseText(file: string, text: string): unknown {
  const quick = parseQuickly(text);
  if (quick !== undefined) return quick.value;
  try {
    return parseJsonc(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw invalidFileError(file, `line ${error.line}, column ${error.column}: ${error.message}`);
  }
}

/** Uses JSON.parse, with the words of the exact parser for a key that is there twice. Throws a SyntaxError or a JsonTextError. */
export function parseJsonOnce(text: string): unknown {
  const quick = parseQuickly(text);
  if (quick) return quick.value;
  JSON.parse(text);
  return parseJsonc(text);
}

/** Uses JSON.parse; returns undefined if it fails, or if it dropped one of two equal keys. */
function parseQuickly(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return countKeys(value, 0) === writtenKeys(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function countKeys(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth > deepest) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const each of value) count += countKeys(each, depth + 1);
    return count;
  }
  for (const key of Object.keys(value)) count += 1 + countKeys((value as JsonObject)[key], depth + 1);
  return count;
}

/** Counts strings followed by a colon. Only correct for valid JSON. */
function writtenKeys(text: string): number {
  const strings = /"[^"\\]*(?:\\.[^"\\]*)*"([ \t\r\n]*:)?/g;
  let count = 0;
  for (let match = strings.exec(text); match; match = strings.exec(text)) if (match[1] !== undefined) count++;
  return count;
}

export function realPathOrSame(file: string): string {
  return tryOr(() => realpathSync(file), file);
}

function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

function invalidFileError(file: string, why: string): UserError {
  return new UserError(
    "CONFIG_INVALID",
    `${file} is not valid: ${why}. Fix it, or move it away; the file was not changed.`,
  );
}

function unreadableFileError(file: string, why: string): UserError {
  return new UserError(
    "CONFIG_UNREADABLE",
    `${file} exists but cannot be read: ${why}. Fix its owner and mode (chmod 600), or move it away.`,
  );
}
