// What takes the place of a store: chats that are carried from elsewhere, copies, new ones where one was deleted.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyStore, takeStore } from "../../src/store/chats/carry-chat.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { deleteChat } from "../../src/store/chats/delete-chat.ts";
import { chatFolder } from "../../src/store/chats/layout.ts";
import { listChats } from "../../src/store/chats/list-chats.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { addTurn, assistant, createPlace, newChat, nextId, type Place, text } from "./chat-support.ts";
import { startChild } from "./store-program.ts";
import { integrityOf, resumes } from "./store-seen.ts";

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

const turn = (chat: ChatWriter, prompt: string) => addTurn(chat, prompt, assistant(text(`answer to ${prompt}`)));
const prompts = (folder: string) => readChat(folder, { events: true }).turns.map(({ prompt }) => prompt);
const beside = (folder: string, part: string) => readdirSync(folder).filter((name) => name.includes(part));

describe("placing a chat into a folder", () => {
  let chat: ChatWriter;
  let folder: string;
  /** The chat after its second turn. */
  let checkpoint: string;
  beforeEach(() => {
    chat = newChat(place);
    folder = chat.metadata.folder;
    turn(chat, "one");
    turn(chat, "two");
    checkpoint = join(place.base, "checkpoint.db");
    copyStore(folder, checkpoint);
  });
  afterEach(() => chat.close());
  const take = (file = checkpoint) => takeStore(file, place, chat.metadata.id);

  it("an arriving copy of a chat does not replace one that is as far or further", () => {
    for (const more of [[], ["three", "four"]]) {
      for (const prompt of more) turn(chat, prompt);
      chat.close();
      const before = readFileSync(join(folder, "store.db"));
      expect(take()).toEqual({ isKept: true });
      expect(readFileSync(join(folder, "store.db")).equals(before)).toBe(true);
      expect(beside(folder, ".new")).toEqual([]);
      chat = openChat(folder);
    }
    expect(prompts(folder)).toEqual(["one", "two", "three", "four"]);
  });

  it("an arriving copy of a chat does not replace one that was rewound since", () => {
    chat.rewindTo(2);
    chat.close();
    expect(take().isKept).toBe(true);
    expect(prompts(folder)).toEqual(["one"]);
  });

  it("an arriving copy of a chat does not replace the longer WAL of a killed process", async () => {
    const id = nextId();
    const child = await startChild({ kind: "turns", chat: { ...place, id }, turns: 300 });
    await child.said(/started/);
    const killed = chatFolder(place.configDir, place.workspace, id);
    const early = join(place.base, "early.db");
    copyStore(killed, early);
    child.process.kill("SIGKILL");
    await child.ended;
    expect(statSync(join(killed, "store.db-wal")).size).toBeGreaterThan(100_000);
    expect(takeStore(early, place, id)).toEqual({ isKept: true });
    expect(readChat(killed).turns).toHaveLength(300);
    expect([integrityOf(killed), resumes(killed)]).toEqual(["ok", true]);
  });

  it("an arriving copy of a chat replaces an earlier one and its WAL", async () => {
    const id = nextId();
    const child = await startChild({ kind: "turns", chat: { ...place, id }, turns: 200 });
    await child.said(/started/);
    child.process.kill("SIGKILL");
    await child.ended;
    const old = chatFolder(place.configDir, place.workspace, id);
    const files = ["store.db", "store.db-wal"].map((name) => [name, readFileSync(join(old, name))] as const);
    const later = openChat(old);
    turn(later, "the last");
    later.close();
    const file = join(place.base, "later.db");
    copyStore(old, file);
    // As it was when the process was killed.
    for (const [name, bytes] of files) writeFileSync(join(old, name), bytes);
    expect(takeStore(file, place, id)).toEqual({ isKept: false });
    expect(prompts(old).at(-1)).toBe("the last");
    expect(readChat(old)).toMatchObject({ problems: [], wholeTurns: 201 });
    expect([integrityOf(old), resumes(old)]).toEqual(["ok", true]);
    expect(beside(old, "replaced")).toEqual([]);
  });

  it("replacing a chat by its copy waits for the chat's writer and changes nothing meanwhile", () => {
    expect(() => take()).toThrow(/in use by process/);
    turn(chat, "three");
    chat.close();
    expect(prompts(folder)).toEqual(["one", "two", "three"]);
    expect(integrityOf(folder)).toBe("ok");
  });

  it("replacing a chat by its copy changes nothing while another program has the store open for writing", async () => {
    chat.rewindTo(2);
    turn(chat, "something else");
    const other = join(place.base, "other.db");
    copyStore(folder, other);
    chat.close();
    const begin = "PRAGMA journal_mode; BEGIN IMMEDIATE";
    const child = await startChild({ kind: "lock", file: join(folder, "store.db"), begin, ms: 60_000 });
    await child.said(/held/);
    // It goes on from what is there, and would take its place.
    const third = openCopyOf(other, "three");
    expect(() => take(third)).toThrow(/locked/);
    child.process.kill("SIGKILL");
    await child.ended;
    expect(prompts(folder)).toEqual(["one", "something else"]);
    expect(take(third)).toEqual({ isKept: false });
    expect(prompts(folder)).toEqual(["one", "something else", "three"]);
  }, 20_000);

  it("a chat that diverged from an arriving copy is set aside, and the copy takes its place", () => {
    const id = chat.metadata.id;
    chat.close();
    const elsewhere = openCopyOf(checkpoint, "on another machine");
    chat = openChat(folder);
    turn(chat, "here");
    chat.close();
    const { isKept, aside } = takeStore(elsewhere, place, id);
    expect(isKept).toBe(false);
    expect(prompts(folder)).toEqual(["one", "two", "on another machine"]);
    const kept = join(place.base, "kept", id);
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, "store.db"), readFileSync(aside!));
    expect(prompts(kept)).toEqual(["one", "two", "here"]);
  });

  it("a damaged copy of a chat replaces nothing", () => {
    chat.close();
    const damages: ((file: string) => void)[] = [
      (file) => truncateSync(file, 1024 * 3),
      (file) => writeFileSync(file, readFileSync(file).fill(0, 1024 * 2, 1024 * 6)),
      (file) => writeFileSync(file, ""),
      (file) => writeFileSync(file, "no database"),
    ];
    for (const damage of damages) {
      const file = join(place.base, "damaged.db");
      writeFileSync(file, readFileSync(checkpoint));
      damage(file);
      expect(() => take(file)).toThrow(/damaged|not a database/);
      expect(prompts(folder)).toEqual(["one", "two"]);
      expect(beside(folder, ".new")).toEqual([]);
      const id = nextId();
      expect(() => takeStore(file, place, id)).toThrow(/damaged|not a database/);
      expect(existsSync(chatFolder(place.configDir, place.workspace, id))).toBe(false);
    }
  });

  it("an arriving copy replaces a damaged chat, which is set aside", () => {
    chat.close();
    const file = join(folder, "store.db");
    writeFileSync(file, readFileSync(file).fill(7, 0, 4096));
    const { isKept, aside } = take();
    expect(isKept).toBe(false);
    expect(prompts(folder)).toEqual(["one", "two"]);
    expect(readFileSync(aside!).subarray(0, 16).equals(Buffer.alloc(16, 7))).toBe(true);
  });

  /** The same chat, gone on with elsewhere. */
  function openCopyOf(file: string, prompt: string): string {
    using away = createPlace();
    takeStore(file, away, chat.metadata.id);
    const there = openChat(chatFolder(away.configDir, away.workspace, chat.metadata.id));
    turn(there, prompt);
    there.close();
    const copy = join(place.base, `${basename(prompt)}.db`);
    copyStore(there.metadata.folder, copy);
    return copy;
  }
});

describe("forks into one id", () => {
  it("when several processes fork a chat into the same id, one of them creates it and none removes it", {
    timeout: 60_000,
  }, async () => {
    const chat = newChat(place);
    for (let number = 1; number <= 30; number++) turn(chat, `prompt ${number}`);
    chat.close();
    for (let round = 0; round < 3; round++) {
      const id = nextId();
      const job = { kind: "fork", configDir: place.configDir, folder: chat.metadata.folder, id } as const;
      const at = Date.now() + 1000;
      const children = await Promise.all([0, 1, 2].map(() => startChild({ ...job, at, ms: 500 })));
      const ends = await Promise.all(children.map(({ ended }) => ended));
      const said = children.map(({ lines }) => lines.join(" "));
      expect(said.filter((line) => line === "forked closed")).toHaveLength(1);
      for (const line of said)
        expect(line).toMatch(/^(forked closed|error USAGE A chat with the id .* already exists.*)$/);
      expect(ends.filter(({ exit }) => exit === 0)).toHaveLength(1);
      const folder = chatFolder(place.configDir, place.workspace, id);
      expect(readChat(folder).turns).toHaveLength(31);
      expect([integrityOf(folder), resumes(folder)]).toEqual(["ok", true]);
    }
  });
});

describe("deleting a chat", () => {
  it("deleting a chat leaves its folder while the lock is open, and then nothing", () => {
    const [one, other] = [newChat(place), newChat(place)];
    for (const chat of [one, other]) {
      turn(chat, "one");
      chat.close();
    }
    deleteChat(place.configDir, one.metadata.folder);
    expect(existsSync(one.metadata.folder)).toBe(false);
    expect(readdirSync(join(place.configDir, "chats", basename(join(other.metadata.folder, ".."))))).toEqual([
      other.metadata.id,
    ]);
    expect(listChats(place.configDir).map(({ id }) => id)).toEqual([other.metadata.id]);
  });

  it("a deletion interrupted by a crash is completed by the next one", () => {
    const [cut, next] = [newChat(place), newChat(place)];
    for (const chat of [cut, next]) {
      turn(chat, "one");
      chat.close();
    }
    const { folder, id } = cut.metadata;
    const leftover = () => {
      writeFileSync(join(folder, "store.db.deleted"), "");
      writeFileSync(join(folder, "store.db-wal"), "the log of the deleted store");
    };
    renameSync(join(folder, "store.db"), join(folder, "store.db.deleted"));
    leftover();
    // What is left does not become part of a new chat with the same id.
    const made = createChat(place, { id, mode: "default" });
    turn(made, "new");
    made.close();
    expect(prompts(folder)).toEqual(["new"]);
    rmSync(join(folder, "store.db"));
    leftover();
    deleteChat(place.configDir, next.metadata.folder);
    expect(existsSync(folder)).toBe(false);
  });
});

describe("a writer after an unexpected error", () => {
  it("a chat writer that failed accepts nothing more, and the chat stays readable", () => {
    const chat = newChat(place);
    turn(chat, "one");
    const impossible = { type: "notice", kind: "test", message: "x", carried: { count: 1n } } as never;
    expect(() => chat.record(impossible)).toThrow(TypeError);
    for (const next of [
      () => turn(chat, "two"),
      () => chat.append(assistant(text("more"))),
      () => chat.saveState("todos", []),
      () => chat.rename("title"),
      () => chat.rewindTo(1),
    ])
      expect(next).toThrow(/takes nothing more after an unexpected error \(.*BigInt/);
    chat.close();
    const { folder } = chat.metadata;
    expect(prompts(folder)).toEqual(["one"]);
    const again = openChat(folder);
    turn(again, "two");
    again.close();
    const { events, problems } = readChat(folder, { events: true });
    expect(problems).toEqual([]);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  });

  it("a chat writer that failed refuses any input", () => {
    const chat = newChat(place);
    turn(chat, "one");
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(() => chat.append(assistant({ type: "tool_call", id: "c", name: "Shell", args: circle }))).toThrow();
    expect(() => turn(chat, "two")).toThrow(/takes nothing more/);
    chat.close();
    expect(prompts(chat.metadata.folder)).toEqual(["one"]);
    expect(resumes(chat.metadata.folder)).toBe(true);
  });
});
