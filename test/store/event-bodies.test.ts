// Events that repeat what the store already holds: kept as differences, read as they were, in chats of every version.
import { cpSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exporters } from "../../src/export/index.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { decodeDelta, encodeDelta } from "../../src/store/chats/delta.ts";
import { forkChat } from "../../src/store/chats/fork-chat.ts";
import { chatFolder } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readChat, readEventsFrom, readStatus } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { random } from "../protocol/random.ts";
import { assistant, call, createPlace, done, newChat, type Place, result, text, user } from "./chat-support.ts";

let place: Place;
let chat: ChatWriter;
let folder: string;
beforeEach(() => {
  place = createPlace();
  chat = newChat(place);
  folder = chat.metadata.folder;
});
afterEach(() => {
  chat.close();
  place.remove();
});

describe("deltas between texts", () => {
  it("an event stored as a delta rebuilds its text, whatever the texts are", () => {
    const pieces = [
      "x".repeat(40),
      "const name = 1;\n",
      "\u{1f600}",
      "ä",
      "\ud83d",
      '{"type":"tool_end"}',
      "0123456789".repeat(5),
    ];
    const next = random(7).below;
    const anyText = () => Array.from({ length: next(30) }, () => pieces[next(pieces.length)]!.slice(next(3))).join("");
    for (let round = 0; round < 3000; round++) {
      const [known, text] = [anyText(), anyText()];
      const delta = JSON.parse(JSON.stringify(encodeDelta(text, known)));
      expect(decodeDelta(delta, known, text.length)).toBe(text);
      expect(delta).not.toContain("");
    }
  });

  it.each(["a", "ab", "0123456", "a line of fifteen", "x".repeat(11), "y".repeat(19), "abcdefghijklm"])(
    "storing an event as a delta of a text of only %j takes proportional time and little room",
    (piece) => {
      const cost = (length: number) => Math.min(...[1, 2, 3].map(() => encoded(length)));
      const encoded = (length: number) => {
        const text = piece.repeat(length / piece.length);
        const before = process.cpuUsage();
        const deltas = [encodeDelta(text, ""), encodeDelta(text, text)];
        const { user } = process.cpuUsage(before);
        expect(decodeDelta(deltas[0]!, "", text.length)).toBe(text);
        expect(decodeDelta(deltas[1]!, text, text.length)).toBe(text);
        expect(JSON.stringify(deltas[0]).length).toBeLessThan(length / 10);
        return user;
      };
      encoded(20_000);
      // Quadratic work would take a hundred times as long.
      expect(cost(400_000)).toBeLessThan(30 * Math.max(cost(40_000), 2000));
    },
  );

  it("an event stored as a delta never splits a character", () => {
    const known = "\u{1f600}".repeat(30);
    const text = `\u{1f601}${"\u{1f600}".repeat(20)}\u{1f602}${"\u{1f600}".repeat(20)}`;
    const delta = encodeDelta(text, known);
    expect(decodeDelta(delta, known, 1000)).toBe(text);
    for (const part of delta) if (typeof part === "string") expect(part).not.toMatch(/[\ud800-\udfff]/u);
  });

  it.each([
    ["that copies what is not there", [5, 10]],
    ["that copies what is yet to be written", ["ab", 8, 4]],
    ["without a length", [0]],
    ["of another kind", [{}]],
    ["with a number below zero", [-1, 2]],
    ["that makes too long a text", ["x".repeat(40)]],
  ])("an event with %s is not read as a stored delta", (_name, delta) => {
    expect(decodeDelta(delta, "12345678", 30)).toBeUndefined();
  });
});

const line = (number: number) =>
  `export function name${number}(argument) { return argument * ${(number * 7919) % 1000}; }`;
const file = (lines: number) => Array.from({ length: lines }, (_, index) => line(index)).join("\n");

/** One call as a run records it, and what the model is told of it. */
function recordCall(id: string, tool: string, args: object, value: object, told: string): AgentEvent[] {
  const start: AgentEvent = { type: "tool_start", callId: id, tool, args, modelCallId: `m-${id}`, startedAt: 1 };
  const end: AgentEvent = { ...start, type: "tool_end", outcome: { kind: "success", value }, completedAt: 2 };
  chat.append(assistant(call(id, tool, args)));
  chat.record(start);
  chat.record(end);
  chat.append({ role: "user", parts: [result(id, told)] });
  return [start, end];
}

/** More edits than may refer to each other, and a few reads. */
function longTurn(): AgentEvent[] {
  const first: AgentEvent = { type: "user", text: "go" };
  chat.record(first);
  chat.append(user("go"));
  let before = file(300);
  const edits = Array.from({ length: 30 }, (_, index) => {
    const after = before.replace(`name${index * 7}(`, `renamed${index}(`);
    const value = { path: "/a.ts", beforeFullFileContent: before, afterFullFileContent: after };
    before = after;
    return recordCall(`e${index}`, "edit", { path: "/a.ts" }, value, "edited");
  });
  const reads = Array.from({ length: 6 }, (_, index) => {
    const content = `// ${index}\n${file(25).replaceAll("name", `name_${index}_`)}`;
    return recordCall(`r${index}`, "read", { path: `/${index}.ts` }, { content, path: `/${index}.ts` }, content);
  });
  const last: AgentEvent = done("Everything is as you wanted it. ".repeat(30));
  chat.append(assistant(text(last.type === "done" ? last.text : "")));
  chat.record(last);
  return [first, ...edits.flat(), ...reads.flat(), last];
}

const eventsIn = (where: string) => readChat(where, { events: true }).events.map(({ event }) => event);

describe("events that repeat stored contents", () => {
  it("events whose contents are stored only once are read back unchanged: all of them, from the middle, by the writer, and in a copy", () => {
    const recorded = longTurn();
    expect(eventsIn(folder)).toEqual(recorded);
    expect(chat.events(40, 3).map(({ event }) => event)).toEqual(recorded.slice(39, 42));
    chat.close();
    expect(readEventsFrom(folder, 66, 2).map(({ event }) => event)).toEqual(recorded.slice(65, 67));
    expect(eventsIn(forkChat(place.configDir, folder).folder)).toEqual(recorded);
  });

  it("stored events that repeat stored contents take a fraction of the room", () => {
    const said = JSON.stringify(longTurn()).length;
    chat.close();
    expect(statSync(join(folder, "store.db")).size).toBeLessThan(said / 8);
  });

  it("stored events of a turn survive the rewind of a later turn", () => {
    const recorded = longTurn();
    longTurn();
    chat.rewindTo(2);
    const more = longTurn();
    expect(eventsIn(folder)).toEqual([...recorded, ...more]);
  });

  it("reading a chat reports events that refer to missing contents, and returns the others", () => {
    const recorded = longTurn();
    chat.close();
    const database = openDatabase(join(folder, "store.db"));
    database.exec("DELETE FROM courser_events WHERE sequence = 2");
    database.close();
    const { events, problems } = readChat(folder, { events: true });
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("no longer readable"),
      expect.stringContaining("missing"),
    ]);
    expect(events.length).toBeGreaterThan(20);
    for (const { sequence, event } of events) expect(event).toEqual(recorded[sequence - 1]);
  });
});

describe("chats of earlier versions", () => {
  const fixture = join(import.meta.dirname, "../fixtures/chat-before-deltas");

  it("a chat of an earlier version is read as it was shown, and can be continued", async () => {
    const shown = readFileSync(join(fixture, "stream.jsonl"), "utf8");
    const { session_id } = JSON.parse(shown.slice(0, shown.indexOf("\n"))) as { session_id: string };
    const old = chatFolder(place.configDir, place.workspace, session_id);
    mkdirSync(old, { recursive: true });
    cpSync(join(fixture, "store.db"), join(old, "store.db"));
    const record = readChat(old, { events: true });
    expect(record.problems).toEqual([]);
    expect([...(await exporters["stream-json"]())(record)].join("")).toBe(shown);
    const before = eventsIn(old);

    chat.close();
    chat = openChat(old);
    const more = longTurn();
    chat.close();
    expect(eventsIn(old)).toEqual([...before, ...more]);
    expect(readStatus(old)).toBe("done");
  });
});
