// Handles damaged stores: detects them, keeps a copy, and never overwrites one.
import { closeSync, existsSync, fstatSync, openSync, readSync, type Stats, statSync, writeFileSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { programName } from "../../text/program-name.ts";
import { tryOr } from "../../text/try-or.ts";
import { isImpossibleFailure, readDatabaseFile, storeError } from "../sqlite.ts";
import type { ChatProblem } from "./chat.ts";
import { chatIdentity, storeFile } from "./layout.ts";

/** Checks that the database of a chat exists. Throws if it is missing or an empty file. */
export function checkStore(folder: string): void {
  const file = storeFile(folder);
  let stat: Stats | undefined;
  try {
    stat = statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, file);
  }
  if (!stat?.isFile())
    throw new UserError(
      "SESSION_NOT_FOUND",
      `Session not found: no chat in ${folder}. List them with: ${programName()} ls --all`,
    );
  if (stat.size === 0) throw damagedChatError(folder, "the file is empty");
}

/** Converts an error from opening a store, as `storeError` does, but reports damage as such. */
export function storeFailure(error: unknown, folder: string): UserError {
  if (error instanceof UserError) return error;
  const { errstr, message } = error as { errstr?: string; message: string };
  if (isImpossibleFailure(error)) return damagedChatError(folder, errstr ?? message);
  const failure = storeError(error, storeFile(folder));
  return failure.code === "STORE_CORRUPT" ? damagedChatError(folder, errstr ?? message) : failure;
}

function damagedChatError(folder: string, why: string): UserError {
  const { id } = chatIdentity(folder);
  return new UserError(
    "STORE_CORRUPT",
    `The chat ${id} is damaged: ${why}. Nothing was changed, and other chats are not touched by this. ` +
      `Save what can still be read: ${programName()} sessions export ${id}. Then start a new chat, or restore a backup of ${storeFile(folder)}.`,
  );
}

/** Copies a damaged store to a file next to it, so that later changes cannot destroy what may still be recovered. */
export function keptAside(failure: UserError, folder: string): UserError {
  if (failure.code !== "STORE_CORRUPT") return failure;
  return tryOr(
    () => new UserError(failure.code, `${failure.message} A copy is kept as ${copyAside(folder, "corrupt")}.`),
    failure,
  );
}

/** Copies the store and its log unchanged. Named by the time of the last change, so that a second call makes no second copy. */
export function copyAside(folder: string, why: "corrupt" | "replaced"): string {
  const file = storeFile(folder);
  const copy = nameAside(file, why);
  for (const suffix of ["", "-wal"])
    if (existsSync(`${file}${suffix}`) && !existsSync(`${copy}${suffix}`)) {
      const bytes = readDatabaseFile(`${file}${suffix}`);
      writeFileSync(`${copy}${suffix}`, bytes, { flag: "wx", mode: 0o600, flush: true });
    }
  return copy;
}

function nameAside(file: string, why: "corrupt" | "replaced"): string {
  const time = statSync(file)
    .mtime.toISOString()
    .replace(/[-:]|\.\d+/g, "");
  return `${file}.${why}-${time}`;
}

/** Explains why a chat with missing or altered parts cannot continue, and what the user can do. */
export function notWhole(folder: string, problems: readonly ChatProblem[], wholeTurns: number): UserError {
  const { id } = chatIdentity(folder);
  const problemText = problems.map((problem) => problem.message).join(" ");
  const turns = wholeTurns === 1 ? "first turn, which is complete," : `first ${wholeTurns} turns, which are complete,`;
  const way =
    wholeTurns === 0 ? "Start a new chat." : `Continue from its ${turns} in a new chat: --resume ${id} --fork.`;
  return new UserError(
    problems[0]!.code,
    `The chat ${id} is incomplete, and nothing of it was sent to a model. ${problemText} ${way} See what is left: ${programName()} sessions show ${id}.`,
  );
}

/** Records the problems found on opening, for lists, which open no stores. */
export function markDamaged(folder: string, problems: readonly ChatProblem[]): void {
  try {
    const problemLines = problems.map(({ message }) => `${message}\n`).join("");
    writeFileSync(`${storeFile(folder)}.damaged`, problemLines, { mode: 0o600 });
  } catch {
    // A missing mark in a list does not make the chat unusable.
  }
}

/** Checks for damage without reading the store: by its first bytes, or by a mark from an earlier check. */
export function isDamagedAtAGlance(folder: string): boolean {
  const file = storeFile(folder);
  try {
    if (existsSync(`${file}.damaged`) || existsSync(nameAside(file, "corrupt"))) return true;
    const bytes = new Uint8Array(32);
    const descriptor = openSync(file, "r");
    try {
      const length = readSync(descriptor, bytes, 0, 32, 0);
      const view = new DataView(bytes.buffer);
      const pageSize = view.getUint16(16) || 2 ** 16;
      // The file may lack pages that are still in the write-ahead log.
      const isShort = !existsSync(`${file}-wal`) && view.getUint32(28) * pageSize > fstatSync(descriptor).size;
      return length < 32 || new TextDecoder().decode(bytes.subarray(0, 15)) !== "SQLite format 3" || isShort;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false; // a missing or unreadable store is reported elsewhere
  }
}
