// What a scenario of a store case shows, and how it is looked at.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { openStore } from "../../src/store/chats/connection.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { addTurn, assistant, text } from "./chat-support.ts";
import type { StoreChild } from "./store-program.ts";

export type StoreSeen = {
  integrity?: string;
  lost?: number;
  resumes?: boolean;
  rounds?: number;
  interrupted?: string[];
  rerun?: boolean;
  /** Of each chat that a killed process was making. */
  chats?: ("absent" | "complete and usable" | "broken")[];
  exit?: number | null;
  errorCode?: string;
  message?: string;
  keptAfterError?: boolean;
  resumesAfterwards?: boolean;
  /** A call that began although it could not be kept. */
  startedUnkept?: boolean;
  keptAside?: string[];
  isAsideWhole?: boolean;
  othersWork?: boolean;
  isPrefix?: boolean;
  isNew?: boolean;
  namesMissing?: boolean;
  offersOlder?: boolean;
  reachesModel?: boolean;
  waited?: boolean;
  ms?: number;
  modes?: Record<string, string>;
  readsOutside?: boolean;
  isOrdered?: boolean;
  roundtrip?: "exact" | "escaped" | "truncated";
};

export type Input = Record<string, any>;
export type Options = { long: boolean };

/** What an ending shows, the worse of two. */
export function add(all: StoreSeen, one: StoreSeen): StoreSeen {
  const worse = (key: keyof StoreSeen, good: unknown) => (all[key] === good ? one[key] : all[key]);
  return Object.assign(all, {
    integrity: worse("integrity", "ok"),
    lost: (all.lost ?? 0) + (one.lost ?? 0),
    resumes: worse("resumes", true),
    resumesAfterwards: worse("resumesAfterwards", true),
    errorCode: worse("errorCode", one.errorCode === all.errorCode ? all.errorCode : "STORE_FULL"),
  });
}

/** Numbers that were said to be kept, and are not. */
export function lostOf(folder: string, child: StoreChild): number {
  const found = new Set(numbersIn(folder));
  return keptNumbers(child).filter((number) => !found.has(number)).length;
}

export function keptNumbers(child: StoreChild): number[] {
  return child.lines.flatMap((line) => (/^kept (\d+)$/.exec(line) ? [Number(line.slice(5))] : []));
}

export function numbersIn(folder: string): number[] {
  const { events } = readChat(folder, { events: true });
  return events
    .map(({ event }) => (event.carried as { number?: number } | undefined)?.number ?? -1)
    .filter((n) => n > 0);
}

export function integrityOf(folder: string): string {
  const store = openStore(join(folder, "store.db"), "write");
  try {
    return store.rows("PRAGMA chat.integrity_check").join("; ");
  } finally {
    store.close();
  }
}

/** Opens, takes a turn, and has it afterwards. */
export function resumes(folder: string): boolean {
  let chat: ChatWriter | undefined;
  try {
    chat = openChat(folder);
    const before = chat.turn;
    addTurn(chat, "after all", assistant(text("yes")));
    chat.close();
    const { turns, problems } = readChat(folder);
    return turns.at(-1)?.number === before + 1 && turns.at(-1)?.status === "done" && problems.length === 0;
  } catch {
    return false;
  }
}

export function errorOf(child: StoreChild): StoreSeen {
  const line = child.lines.find((each) => each.startsWith("error "));
  const [, errorCode, message] = /^error (\S+) (.*)/.exec(line ?? "") ?? [];
  return {
    ...(errorCode !== undefined && { errorCode, message }),
    keptAfterError: child.lines.includes("kept after the failure"),
  };
}

export function failureOf(work: () => unknown): StoreSeen {
  try {
    work();
    return {};
  } catch (error) {
    return thrown(error);
  }
}

export function thrown(error: unknown): StoreSeen {
  if (!(error instanceof UserError)) throw error;
  return { errorCode: error.code, message: error.message };
}

export function pause(ms: number): Promise<void> {
  return new Promise((settle) => setTimeout(settle, ms));
}

/** The mode of everything below a folder, by name; folders as `name dir`. */
export function filesBelow(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    found[`${name}${stat.isDirectory() ? " dir" : ""}`] = `0${(stat.mode & 0o777).toString(8)}`;
    if (stat.isDirectory()) Object.assign(found, filesBelow(path));
  }
  return found;
}
