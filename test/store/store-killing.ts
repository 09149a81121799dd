// Processes that are killed, or get in each other's way, while they work with a chat.
import { cpSync, existsSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { chatFolder, chatsDir, projectId } from "../../src/store/chats/layout.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { chanceOf } from "../support/chance.ts";
import { addThreeTurns, addTurn, assistant, createPlace, newChat, nextId, type Place, text } from "./chat-support.ts";
import { faults, type StoreChild, startChild } from "./store-program.ts";
import {
  add,
  errorOf,
  filesBelow,
  type Input,
  integrityOf,
  lostOf,
  numbersIn,
  type Options,
  pause,
  resumes,
  type StoreSeen,
  thrown,
} from "./store-seen.ts";

const chance = chanceOf("store/store-killing");

/** So many rounds as the case says, or a few. */
function roundsOf(input: Input, options: Options, few: number): number {
  const said = Number(/(\d+) rounds/.exec(String(input["at"]))?.[1] ?? few);
  return options.long ? said : Math.min(said, few);
}

/** In memory where there is such a place: a killed process loses the same there, and rounds are quick. */
function quickPlace(): Place {
  return createPlace(existsSync("/dev/shm") ? "/dev/shm" : undefined);
}

export async function kill(input: Input, options: Options): Promise<StoreSeen> {
  if (input["workload"]?.["create_chat"] !== undefined) return killWhileCreating(input, options);
  const { events = 5000, event_bytes = 2000 } = input["workload"] ?? {};
  const isCheckpoint = /checkpoint/i.test(String(input["at"]));
  const [, size = "4"] = /WAL > (\d+) MiB/i.exec(String(input["at"])) ?? [];
  const rounds = roundsOf(input, options, isCheckpoint ? 2 : 4);
  const seen: StoreSeen = { integrity: "ok", lost: 0, resumes: true, rounds };
  for (let round = 0; round < rounds; round++) {
    const place = quickPlace();
    try {
      const id = nextId();
      const folder = chatFolder(place.configDir, place.workspace, id);
      const child = await startChild({ kind: "write", chat: { ...place, id }, events, bytes: event_bytes });
      await child.said(/^open$/);
      if (isCheckpoint) await logGrew(join(folder, "store.db-wal"), Number(size) * 1024 * 1024, child);
      await pause(chance() * (isCheckpoint ? 10 : 700));
      child.process.kill("SIGKILL");
      await child.ended;
      add(seen, { lost: lostOf(folder, child), integrity: integrityOf(folder), resumes: resumes(folder) });
    } finally {
      place.remove();
    }
  }
  return seen;
}

/** The log is emptied into the store in the commit that makes it longer than this. */
async function logGrew(file: string, bytes: number, child: StoreChild): Promise<void> {
  const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  while (size() < bytes * 0.97 && child.process.exitCode === null) await pause(1);
}

async function killWhileCreating(input: Input, options: Options): Promise<StoreSeen> {
  const rounds = roundsOf(input, options, 8);
  const chats = new Set<"absent" | "complete and usable" | "broken">();
  for (let round = 0; round < rounds; round++) {
    const place = quickPlace();
    try {
      const child = await startChild({ kind: "create", configDir: place.configDir, workspace: place.workspace });
      await pause(20 + chance() * 100);
      child.process.kill("SIGKILL");
      await child.ended;
      const project = join(chatsDir(place.configDir), projectId(place.workspace));
      for (const id of existsSync(project) ? readdirSync(project) : []) {
        const folder = join(project, id);
        const isAbsent = !existsSync(join(folder, "store.db"));
        const wasTold = child.lines.includes(id);
        if (isAbsent) createChat(place, { id, mode: "default" }).close();
        chats.add(!resumes(folder) || (isAbsent && wasTold) ? "broken" : isAbsent ? "absent" : "complete and usable");
      }
    } finally {
      place.remove();
    }
  }
  return { chats: [...chats], rounds };
}

export async function killDuringCall(input: Input): Promise<StoreSeen> {
  using place = createPlace();
  const id = nextId();
  const turns = Number(input["workload"]?.["turns"] ?? 3);
  const child = await startChild({ kind: "turns", chat: { ...place, id }, turns });
  await child.said(/^started$/);
  child.process.kill("SIGKILL");
  await child.ended;
  const folder = chatFolder(place.configDir, place.workspace, id);
  const before = readChat(folder, { events: true });
  const integrity = integrityOf(folder);
  const chat = openChat(folder);
  const interrupted = chat.interrupted.map(({ callId }) => callId);
  const told = chat.messages.at(-1)?.parts.at(-1);
  chat.close();
  const after = readChat(folder, { events: true });
  const kept = after.events.slice(0, before.events.length);
  const ends = after.events.slice(before.events.length).map(({ event }) => event);
  const starts = ends.filter((event) => event.type === "tool_start");
  const isMarked =
    told?.type === "tool_result" &&
    told.isError &&
    ends.some((event) => event.type === "tool_end" && event.outcome?.kind === "error") &&
    after.turns.at(-1)?.status === "interrupted";
  return {
    integrity,
    lost: isDeepStrictEqual(kept, before.events) && before.turns.length === turns ? 0 : 1,
    resumes: resumes(folder),
    interrupted: isMarked ? interrupted : [],
    rerun: starts.length > 0,
  };
}

export async function tornLog(input: Input): Promise<StoreSeen> {
  using place = createPlace();
  const id = nextId();
  const child = await startChild({ kind: "write", chat: { ...place, id }, events: 5000, bytes: 300 });
  await child.said(/^kept 400$/);
  child.process.kill("SIGKILL");
  await child.ended;
  const folder = chatFolder(place.configDir, place.workspace, id);
  // The program writes on until the signal reaches it.
  const copy = `${folder}-whole`;
  cpSync(folder, copy, { recursive: true });
  const whole = numbersIn(copy);
  const log = join(folder, "store.db-wal");
  const size = statSync(log).size;
  truncateSync(log, lengthIn(String(input["truncate_to"] ?? "half"), size));
  const numbers = numbersIn(folder);
  const isPrefix = numbers.length < whole.length && numbers.every((number, index) => number === index + 1);
  return { isPrefix, integrity: integrityOf(folder), resumes: resumes(folder) };
}

/** A part of the whole, in words or as a number below one, or bytes. */
function lengthIn(text: string, size: number): number {
  const words = { half: 0.5, third: 1 / 3, quarter: 0.25, empty: 0 };
  const [, part] = Object.entries(words).find(([word]) => text.includes(word)) ?? [];
  const number = Number.parseFloat(text) || 0;
  const share = part ?? (/%/.test(text) ? number / 100 : number < 1 ? number : undefined);
  return Math.floor(share === undefined ? Math.min(number, size) : size * share);
}

export async function locked(input: Input): Promise<StoreSeen> {
  using place = createPlace();
  const chat = newChat(place);
  addThreeTurns(chat);
  chat.close();
  const { folder } = chat.metadata;
  const ms = Number(input["hold_ms"] ?? 2000);
  const begin = String(input["kind"] ?? "BEGIN EXCLUSIVE");
  const child = await startChild({ kind: "lock", file: join(folder, "store.db"), begin, ms });
  await child.said(/^held$/);
  const started = performance.now();
  let seen: StoreSeen = {};
  try {
    const again = openChat(folder);
    addTurn(again, "after the lock", assistant(text("yes")));
    again.close();
  } catch (error) {
    seen = thrown(error);
  }
  const took = performance.now() - started;
  await child.ended;
  const count = readChat(folder).messages.length;
  return {
    ...seen,
    ms: took,
    waited: took > Math.min(ms, 4000) * 0.8,
    integrity: integrityOf(folder),
    lost: count === (seen.errorCode ? 8 : 10) ? 0 : 1,
  };
}

export async function twoWriters(): Promise<StoreSeen> {
  using place = createPlace();
  const chat = newChat(place);
  addThreeTurns(chat);
  chat.close();
  const { folder } = chat.metadata;
  const first = await startChild({ kind: "hold", folder, ms: 60_000 });
  await first.said(/^held$/);
  const started = performance.now();
  const second = await startChild({ kind: "hold", folder, ms: 0 });
  await second.ended;
  const ms = performance.now() - started;
  const { errorCode, message = "" } = errorOf(second);
  // What is said must name the holder and a way on.
  const isClear = new RegExp(`^database is locked: .* process ${first.process.pid} since .*--fork`).test(message);
  first.process.kill("SIGKILL");
  await first.ended;
  return {
    errorCode: isClear ? errorCode : message,
    message,
    ms,
    integrity: integrityOf(folder),
    resumes: resumes(folder),
  };
}

export async function modes(input: Input): Promise<StoreSeen> {
  using place = createPlace();
  const id = nextId();
  const job = { kind: "write", chat: { ...place, id }, events: 100_000, bytes: 10 } as const;
  const child = await startChild(job, { umask: String(input["umask"] ?? "000") });
  await child.said(/^kept 150$/);
  child.process.kill("SIGKILL");
  await child.ended;
  return { modes: filesBelow(place.configDir) };
}

export async function clockJump(input: Input): Promise<StoreSeen | string> {
  const env = faults({});
  if (typeof env === "string") return env;
  using place = createPlace();
  const id = nextId();
  const clock = Number(input["by_s"] ?? -86_400);
  const child = await startChild({ kind: "write", chat: { ...place, id }, events: 240, bytes: 10, clock }, { env });
  await child.said(/^closed$/);
  await child.ended;
  const folder = chatFolder(place.configDir, place.workspace, id);
  const { events, messages } = readChat(folder, { events: true });
  const jumped = events.some(({ at }, index) => Math.abs(at - (events[index - 1]?.at ?? at)) > Math.abs(clock) * 500);
  const numbers = numbersIn(folder);
  const prompts = messages.flatMap(({ message }) => (message.role === "user" ? message.parts : []));
  const asked = prompts.map((part) => part.type === "text" && part.text);
  const isOrdered = numbers.length === 240 && numbers.every((number, index) => number === index + 1);
  return { isOrdered: jumped && isOrdered && isDeepStrictEqual(asked, ["prompt 1", "prompt 101", "prompt 201"]) };
}
