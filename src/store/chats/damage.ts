// A damaged store: told apart from a new one, kept aside as it is, never written over.
import { constants, copyFileSync, existsSync, type Stats, statSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { storeError } from "../sqlite.ts";
import type { ChatProblem } from "./chat.ts";
import { placeOfChat, storeFile } from "./layout.ts";

/** Throws when there is no store, or an empty file in its place. */
export function checkStore(folder: string): void {
  const stat = statOf(storeFile(folder));
  if (!stat?.isFile())
    throw new UserError(
      "SESSION_NOT_FOUND",
      `Session not found: there is no chat in ${folder}. List them with: ls --all`,
    );
  if (stat.size === 0) throw damaged(folder, "the file is empty");
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, file);
  }
}

/** What went wrong with a store, as `storeError` tells it; damage is also kept aside. */
export function failureOf(error: unknown, folder: string): UserError {
  const failure = storeError(error, storeFile(folder));
  if (failure.code !== "STORE_CORRUPT" || failure === error) return failure;
  const { errstr, message } = error as { errstr?: string; message: string };
  return damaged(folder, errstr ?? message);
}

/** Keeps a copy beside the store, so that nothing that anybody does to it later takes away what can still be saved. */
export function damaged(folder: string, why: string): UserError {
  const file = storeFile(folder);
  const { id } = placeOfChat(folder);
  return new UserError(
    "STORE_CORRUPT",
    `The chat ${id} is damaged: ${why}. ${setAside(file)} Other chats are not touched by this. Begin a new chat, or put a backup in the place of ${file}.`,
  );
}

function setAside(file: string): string {
  try {
    // Named by the time of the damage: asking twice makes one copy.
    const time = statSync(file)
      .mtime.toISOString()
      .replace(/[-:]|\.\d+/g, "");
    const copy = `${file}.corrupt-${time}`;
    for (const suffix of ["", "-wal"])
      if (existsSync(`${file}${suffix}`) && !existsSync(`${copy}${suffix}`))
        copyFileSync(`${file}${suffix}`, `${copy}${suffix}`, constants.COPYFILE_EXCL);
    return `Nothing was changed; a copy is kept as ${copy}.`;
  } catch {
    return "Nothing was changed.";
  }
}

/** Why a chat with missing or altered parts is not gone on with, and what can be done. */
export function notWhole(folder: string, problems: readonly ChatProblem[], wholeTurns: number): UserError {
  const { id } = placeOfChat(folder);
  const said = problems.map((problem) => problem.message).join(" ");
  return new UserError(
    problems[0]!.code,
    `The chat ${id} is not whole, and nothing of it was sent to a model. ${said} ` +
      `Go on from its ${wholeTurns} whole turns in a new chat: --resume ${id} --fork. See what is left: sessions show ${id}.`,
  );
}
