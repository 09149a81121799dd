// A damaged store: told apart from a new one, kept aside as it is, never written over.
import { existsSync, type Stats, statSync, writeFileSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { programName } from "../../text/program-name.ts";
import { isImpossible, readDatabaseFile, storeError } from "../sqlite.ts";
import type { ChatProblem } from "./chat.ts";
import { chatIdentity, storeFile } from "./layout.ts";

/** Throws when there is no store, or an empty file in its place. */
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
  if (stat.size === 0) throw damaged(folder, "the file is empty");
}

/** What went wrong with a store that was being opened: as `storeError` tells it, but damage by its name. */
export function failureOf(error: unknown, folder: string): UserError {
  if (error instanceof UserError) return error;
  const { errstr, message } = error as { errstr?: string; message: string };
  if (isImpossible(error)) return damaged(folder, errstr ?? message);
  const failure = storeError(error, storeFile(folder));
  return failure.code === "STORE_CORRUPT" ? damaged(folder, errstr ?? message) : failure;
}

function damaged(folder: string, why: string): UserError {
  const { id } = chatIdentity(folder);
  return new UserError(
    "STORE_CORRUPT",
    `The chat ${id} is damaged: ${why}. Nothing was changed, and other chats are not touched by this. ` +
      `Save what can still be read: ${programName()} sessions export ${id}. Then start a new chat, or restore a backup of ${storeFile(folder)}.`,
  );
}

/** Keeps a copy beside a damaged store, so that nothing that anybody does to it later takes away what can still be saved. */
export function keptAside(failure: UserError, folder: string): UserError {
  if (failure.code !== "STORE_CORRUPT") return failure;
  try {
    return new UserError(failure.code, `${failure.message} A copy is kept as ${copyAside(folder, "corrupt")}.`);
  } catch {
    return failure;
  }
}

/** The store and its log, as they lie. Named by the time of the last change: asking twice makes one copy. */
export function copyAside(folder: string, why: "corrupt" | "replaced"): string {
  const file = storeFile(folder);
  const time = statSync(file)
    .mtime.toISOString()
    .replace(/[-:]|\.\d+/g, "");
  const copy = `${file}.${why}-${time}`;
  for (const suffix of ["", "-wal"])
    if (existsSync(`${file}${suffix}`) && !existsSync(`${copy}${suffix}`)) {
      const bytes = readDatabaseFile(`${file}${suffix}`);
      writeFileSync(`${copy}${suffix}`, bytes, { flag: "wx", mode: 0o600, flush: true });
    }
  return copy;
}

/** Why a chat with missing or altered parts is not gone on with, and what can be done. */
export function notWhole(folder: string, problems: readonly ChatProblem[], wholeTurns: number): UserError {
  const { id } = chatIdentity(folder);
  const said = problems.map((problem) => problem.message).join(" ");
  const turns = wholeTurns === 1 ? "first turn, which is complete," : `first ${wholeTurns} turns, which are complete,`;
  const way =
    wholeTurns === 0 ? "Start a new chat." : `Continue from its ${turns} in a new chat: --resume ${id} --fork.`;
  return new UserError(
    problems[0]!.code,
    `The chat ${id} is incomplete, and nothing of it was sent to a model. ${said} ${way} See what is left: ${programName()} sessions show ${id}.`,
  );
}
