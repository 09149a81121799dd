import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Message, Part } from "../../src/protocol/message.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { transcriptFile } from "../../src/store/chats/layout.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { readChat, readMessages, readMetadata } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import {
  addThreeTurns,
  addTurn,
  assistant,
  call,
  createPlace,
  done,
  newChat,
  nextId,
  type Place,
  result,
  text,
  user,
} from "./chat-support.ts";

let place: Place;
let chat: ChatWriter;
beforeEach(() => {
  place = createPlace();
  chat = newChat(place);
});
afterEach(() => {
  chat.close();
  place.remove();
});

const stored = () => readChat(chat.metadata.folder, { events: true });
const reopen = () => {
  chat.close();
  chat = openChat(chat.metadata.folder);
  return chat;
};

describe("a new chat", () => {
  it("a new chat's database is complete before the first message", () => {
    expect(stored()).toMatchObject({ messages: [], events: [], turns: [], problems: [], wholeTurns: 0 });
    expect(stored().metadata).toMatchObject({
      title: "New Agent",
      mode: "default",
      model: "Test",
      hasConversation: false,
    });
    expect(stored().metadata.workspace).toBe(place.workspace);
    expect(reopen().messages).toEqual([]);
  });

  it("a new chat has the original's tables, word for word, and its metadata row", () => {
    const database = openDatabase(`${chat.metadata.folder}/store.db`, { readOnly: true });
    const tables = database.prepare("SELECT sql FROM sqlite_master WHERE name IN ('blobs', 'meta')").all();
    expect(tables.map((row) => row["sql"])).toEqual([
      "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)",
      "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    ]);
    const rows = database.prepare("SELECT key, value FROM meta").all();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.["key"]).toBe("0");
    expect(JSON.parse(Buffer.from(String(rows[0]?.["value"]), "hex").toString())).toEqual({
      agentId: chat.metadata.id,
      latestRootBlobId: expect.stringMatching(/^[0-9a-f]{64}$/),
      name: "New Agent",
      mode: "default",
      createdAt: chat.metadata.createdAt,
      lastUsedModel: "Test",
    });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    database.close();
  });

  it("a chat cannot be created twice", () => {
    const again = () => createChat(place, { id: chat.metadata.id, mode: "default" });
    chat.close();
    expect(again).toThrow(/A chat with the id .* --resume/);
    expect(stored().problems).toEqual([]);
  });

  it("the files of a chat are private whatever the umask", () => {
    const before = process.umask(0o000);
    // Who is not root cannot work in a folder that the mask takes from its owner.
    const narrowest = process.getuid?.() === 0 ? 0o777 : 0o077;
    try {
      for (const mask of [0o000, narrowest]) {
        process.umask(mask);
        const open = newChat({ ...place, configDir: `${place.base}/config-${mask}` });
        addThreeTurns(open);
        const { folder, id } = open.metadata;
        const transcript = transcriptFile(`${place.base}/config-${mask}`, place.workspace, id);
        const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
        for (const name of ["store.db", "store.db-wal", "store.db-shm", "meta.json", "writer.lock"])
          expect([name, mode(`${folder}/${name}`)]).toEqual([name, "600"]);
        expect(mode(transcript)).toBe("600");
        for (const path of [folder, dirname(folder), dirname(dirname(folder)), dirname(transcript)])
          expect([path, mode(path)]).toEqual([path, "700"]);
        open.close();
      }
    } finally {
      process.umask(before);
    }
  });
});

describe("stored messages", () => {
  it("a chat returns messages exactly: surrogates, NUL, images, opaque parts, order", () => {
    const odd = "lone \ud800 surrogate, NUL \0, \u{1f469}, </user_query>\n, <timestamp>x</timestamp>\n<user_query>\n";
    const messages: Message[] = [
      user(odd),
      user(odd),
      user(""),
      { role: "user", parts: [] },
      { role: "user", parts: [text("two"), text("<system_reminder>\ntexts\n</system_reminder>"), image("AAAA")] },
      { role: "user", parts: [image("BBBB"), text("an image first")], provider: "somebody" },
      assistant(
        { type: "thinking", text: odd, opaque: { from: "x", metadata: { signature: odd, list: [null, 1.5, false] } } },
        { type: "thinking", text: "" },
        text(odd),
        { type: "tool_call", id: "a\0b", name: "Shell", args: { command: odd }, opaque: ["kept"] },
        call("c2", "Read", null),
        call("c3", "Odd", "no object"),
        text("after"),
      ),
      {
        role: "user",
        parts: [
          text("before"),
          result("a\0b", odd, true),
          {
            type: "tool_result",
            id: "c2",
            text: "seen",
            isError: false,
            images: [{ mime: "image/png", base64: "CC" }],
          },
          text("between"),
          text("<user_query>"),
          result("c3", ""),
          image("DDDD"),
        ],
      },
      { role: "assistant", parts: [text("no provider")] },
      { role: "assistant", parts: [] },
    ];
    chat.append(...messages.slice(0, 4));
    for (const message of messages.slice(4)) chat.append(message);
    expect(chat.messages).toEqual(messages);
    expect(stored().messages.map((each) => each.message)).toEqual(messages);
    expect(reopen().messages).toEqual(messages);
    expect(stored().problems).toEqual([]);
  });

  it("a chat returns random messages exactly", () => {
    const random = seeded(20_260);
    const messages = Array.from({ length: 120 }, () => randomMessage(random));
    for (const message of messages) chat.append(message);
    expect(stored().messages.map((each) => each.message)).toEqual(messages);
  });

  it("a chat keeps the order of messages when the clock goes back", () => {
    for (let index = 0; index < 20; index++)
      chat.record({ type: "notice", kind: "x", message: String(index), at: 1_000_000 - index });
    const said = stored().events.map(({ event }) => event.type === "notice" && event.message);
    expect(said).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  });

  it("a chat keeps whole messages even if the model gets shortened ones", () => {
    const all = addThreeTurns(chat);
    chat.replace([user("summary"), all.at(-1)!]);
    addTurn(chat, "go on", assistant(text("on")));
    const told = [user("summary"), all.at(-1)!, user("go on"), assistant(text("on"))];
    expect(chat.messages).toEqual(told);
    expect(reopen().messages).toEqual(told);
    expect(readMessages(chat.metadata.folder)).toEqual(told);
    expect(stored().messages.map((each) => each.message)).toEqual([...all, ...told.slice(2)]);
  });
});

describe("stored events", () => {
  it("a chat stores numbered events unchanged, except deltas and live output", () => {
    const init: AgentEvent = {
      type: "init",
      sessionId: chat.metadata.id,
      cwd: "/w",
      permissionMode: "default",
      apiKeySource: "none",
      at: 7,
    };
    const start: AgentEvent = { type: "tool_start", callId: "c", tool: "shell", args: { command: "\ud800\0" } };
    const end: AgentEvent = { ...start, type: "tool_end", outcome: { kind: "success", value: { stdout: "" } } };
    const said: AgentEvent[] = [
      init,
      { type: "user", text: "go" },
      { type: "thinking", text: "h" },
      { type: "thinking", text: "m" },
      { type: "thinking_end", text: "hm" },
      { type: "text", text: "wrong", at: 9 },
      { type: "retry", attempt: 1, discards: true },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "text_end", text: "ab" },
      start,
      { type: "tool_output", callId: "c", chunk: "live" },
      end,
      { type: "text", text: "half" },
      { type: "text_end", text: "half", cut: true },
      { type: "fail", message: "broke", code: "MODEL_TIMEOUT", durationMs: 1, apiDurationMs: 1 },
    ];
    const numbers = said.map((event) => chat.record(event));
    const events = stored().events.map((each) => each.event);
    expect(events).toEqual(said.filter(({ type }) => !["text", "thinking", "tool_output"].includes(type)));
    const sequences = stored().events.map((each) => each.sequence);
    expect(sequences).toEqual([...sequences].sort((left, right) => left - right));
    expect(numbers.filter((number) => number !== undefined)).toEqual(sequences);
    expect(chat.events(sequences[2]!, 3).map(({ sequence }) => sequence)).toEqual(sequences.slice(2, 5));
    expect(stored().events.every((each) => each.turn === 1)).toBe(true);
  });

  it("a chat groups stored events into turns", () => {
    addThreeTurns(chat);
    chat.record({ type: "user", text: "fails" });
    chat.record({ type: "fail", message: "x", code: "MODEL_TIMEOUT", durationMs: 0, apiDurationMs: 0 });
    chat.record({ type: "user", text: "stops" });
    chat.record({ type: "fail", message: "x", code: "INTERRUPTED", durationMs: 0, apiDurationMs: 0 });
    expect(stored().turns.map(({ number, prompt, status }) => [number, prompt, status])).toEqual([
      [1, "what is 7+7?", "done"],
      [2, "list the files, then read a.txt", "done"],
      [3, "what is 7+7?", "done"],
      [4, "fails", "failed"],
      [5, "stops", "interrupted"],
    ]);
    expect(chat.turn).toBe(5);
    expect(reopen().turn).toBe(5);
    expect(readChat(chat.metadata.folder).events).toEqual([]);
  });

  it("in a chat without events, each prompt begins a turn", () => {
    chat.append(user("one"), assistant(text("1")), user("two"), assistant(call("c", "LS", {})));
    expect(stored().turns.map(({ number, prompt, status }) => [number, prompt, status])).toEqual([
      [1, "one", "done"],
      [2, "two", "interrupted"],
    ]);
    expect(chat.turn).toBe(2);
  });
});

describe("rewinding a chat", () => {
  it("rewinding a chat restores messages, events, views and state to before a turn", () => {
    const all = addThreeTurns(chat);
    chat.saveState("todos", ["of turn 3"]);
    expect(chat.state("todos")).toEqual(["of turn 3"]);
    chat.replace([user("short")]);
    chat.rewindTo(3);
    expect(chat.turn).toBe(2);
    expect(chat.state("todos")).toBeUndefined();
    expect(chat.messages).toEqual(all.slice(0, 6));
    expect(stored()).toMatchObject({ problems: [], wholeTurns: 2 });
    expect(stored().messages).toHaveLength(6);
    expect(stored().turns.map((turn) => turn.number)).toEqual([1, 2]);
    expect(stored().events.every((event) => event.turn < 3)).toBe(true);

    addTurn(chat, "another third", assistant(text("3")));
    expect(chat.turn).toBe(3);
    expect(reopen().messages.slice(-2)).toEqual([user("another third"), assistant(text("3"))]);
    expect(stored().problems).toEqual([]);
  });

  it("rewinding a chat goes back to the beginning and no further", () => {
    addThreeTurns(chat);
    for (const number of [0, 4, 1.5, Number.NaN]) expect(() => chat.rewindTo(number)).toThrow(/its turns are 1 to 3/);
    chat.rewindTo(1);
    expect(stored()).toMatchObject({ messages: [], events: [], turns: [], problems: [] });
    expect(() => chat.rewindTo(1)).toThrow(/has no turns/);
    expect(reopen().messages).toEqual([]);
    expect(chat.metadata).toMatchObject({ hasConversation: false });
    expect(chat.metadata.prompt).toBeUndefined();
  });
});

describe("metadata of a chat", () => {
  it("a chat's metadata follows what happens, in the store and in the file beside it", () => {
    chat.record({ type: "user", text: "  the first\nprompt" });
    chat.append(user("  the first\nprompt"));
    expect(readMetadata(chat.metadata.folder)).toMatchObject({ prompt: "the first", title: "New Agent" });
    chat.rename("A 'title'");
    chat.record(done("x"));
    expect(readMetadata(chat.metadata.folder)).toEqual(chat.metadata);
    expect(stored().metadata).toEqual(chat.metadata);
    const beside = JSON.parse(readFileSync(`${chat.metadata.folder}/meta.json`, "utf8"));
    expect(beside).toMatchObject({
      schemaVersion: 1,
      createdAtMs: chat.metadata.createdAt,
      updatedAtMs: chat.metadata.updatedAt,
      hasConversation: true,
      cwd: place.workspace,
      title: "A 'title'",
    });
    chat.close();
    chat = openChat(chat.metadata.folder, { mode: "auto-run", model: "Other" });
    expect(chat.metadata).toMatchObject({ title: "A 'title'", mode: "auto-run", model: "Other", prompt: "the first" });
    addTurn(chat, "again", assistant(text("ok")));
    expect(stored().metadata).toMatchObject({ mode: "auto-run", model: "Other" });
  });

  it("a chat has a transcript, and a log that names the workspace", () => {
    addThreeTurns(chat);
    const file = transcriptFile(place.configDir, place.workspace, chat.metadata.id);
    const lines = () =>
      readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    expect(lines().map((line) => line.role ?? line.type)).toEqual(
      ["user", "assistant", "turn_ended", "user", "assistant", "assistant", "turn_ended", "user", "assistant"].concat(
        "turn_ended",
      ),
    );
    expect(lines()[0].message.content[0].text).toMatch(
      /^<timestamp>[^<]+<\/timestamp>\n<user_query>\nwhat is 7\+7\?\n<\/user_query>$/,
    );
    expect(lines()[4].message.content).toEqual([
      { type: "text", text: "I look." },
      { type: "tool_use", name: "LS", input: { path: "." } },
      { type: "tool_use", name: "Read", input: { path: "a.txt" } },
    ]);
    expect(readFileSync(`${dirname(dirname(dirname(file)))}/worker.log`, "utf8")).toBe(
      `workspacePath=${place.workspace}\n`,
    );
    chat.rewindTo(2);
    expect(lines().map((line) => line.role ?? line.type)).toEqual(["user", "assistant", "turn_ended"]);
    addTurn(chat, "on", assistant(text("ok")));
    expect(lines()).toHaveLength(6);
  });
});

describe("closing a chat", () => {
  it("closing a chat leaves no write-ahead log, unlocks the chat, and ends writing", () => {
    addThreeTurns(chat);
    const { folder } = chat.metadata;
    chat.close();
    chat.close();
    expect(existsSync(`${folder}/store.db-wal`)).toBe(false);
    expect(() => chat.append(user("late"))).toThrow(/is closed/);
    expect(() => chat.record({ type: "user", text: "late" })).toThrow(/is closed/);
    chat = openChat(folder);
    expect(chat.messages).toHaveLength(8);
  });

  it("closing chats leaves no open file, however many were opened", () => {
    chat.close();
    const before = openFiles();
    for (let index = 0; index < 12; index++) {
      const one = newChat(place);
      addThreeTurns(one);
      one.close();
      readChat(one.metadata.folder, { events: true });
      openChat(one.metadata.folder).close();
    }
    expect(openFiles() - before).toBeLessThan(5);
  });

  it("a chat refuses reserved keys for saved state", () => {
    expect(() => chat.saveState(".root", 1)).toThrow();
    chat.saveState("x", undefined);
    expect(chat.state("x")).toBeNull();
    expect(chat.state(nextId())).toBeUndefined();
  });
});

function openFiles(): number {
  const path = `/proc/self/fd`;
  return existsSync(path) ? readdirSync(path).length : 0;
}

function image(base64: string): Part {
  return { type: "image", mime: "image/png", base64 };
}

function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function randomMessage(random: (below: number) => number): Message {
  const words = ["", "a", "\n", "\0", "\ud800", "<user_query>", "</system_reminder>", '"', "{", "\u{1f469}"];
  const word = () => Array.from({ length: random(4) }, () => words[random(words.length)]).join("");
  const parts = Array.from({ length: random(5) }, (): Part => {
    const opaque = random(2) === 0 ? {} : { opaque: { [word()]: [word(), random(9)] } };
    switch (random(5)) {
      case 0:
        return { type: "text", text: word() };
      case 1:
        return { type: "thinking", text: word(), ...opaque };
      case 2:
        return { type: "image", mime: word(), base64: word() };
      case 3:
        return { type: "tool_call", id: word(), name: word(), args: { [word()]: word() }, ...opaque };
      default:
        return { type: "tool_result", id: word(), text: word(), isError: random(2) === 0 };
    }
  });
  const provider = random(2) === 0 ? {} : { provider: word() };
  return { role: random(2) === 0 ? "user" : "assistant", parts, ...provider };
}
