// Chats that were cut off, locked, damaged or taken away: what is kept, and what is said.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { chatFolder, transcriptFile } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readChat, readMessages, readMetadata } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { chanceOf } from "../support/chance.ts";
import { orSkipped } from "../support/skipping.ts";
import {
  addThreeTurns,
  addTurn,
  assistant,
  call,
  createPlace,
  newChat,
  nextId,
  type Place,
  result,
  text,
  user,
} from "./chat-support.ts";
import { copySqlite, startChild } from "./store-program.ts";

const chance = chanceOf("store/chats-damage");

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

const code = (expected: string) => expect.objectContaining({ code: expected });
const store = () => join(folder, "store.db");

describe("a run that was cut off", () => {
  it("in the chat of a cut-off run, open tool calls and the turn are marked as ended", () => {
    chat.record({ type: "user", text: "go" });
    chat.append(
      user("go"),
      assistant(call("a", "Shell", { command: "one" }), call("b", "Shell", { command: "two" }), call("c", "LS", {})),
    );
    chat.record({ type: "tool_start", callId: "a", tool: "shell", args: { command: "one" } });
    chat.record({ type: "tool_start", callId: "b", tool: "shell", args: { command: "two" }, modelCallId: "m" });
    const value = { stdout: "made" };
    chat.record({ type: "tool_end", callId: "a", tool: "shell", args: {}, outcome: { kind: "success", value } });
    expect(readMessages(folder)).toHaveLength(3);
    chat.close();
    chat = openChat(folder);

    expect(chat.interrupted).toEqual([{ callId: "b", tool: "shell" }]);
    const results = chat.messages.at(-1)!.parts.map((part) => (part.type === "tool_result" ? part : undefined));
    expect(results.map((part) => [part?.id, part?.isError])).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
    ]);
    expect(results.map((part) => part?.text)).toEqual([
      expect.stringContaining('had ended with "success": {"stdout":"made"}'),
      expect.stringContaining("may or may not have taken effect"),
      expect.stringContaining("before this call was started"),
    ]);
    const events = readChat(folder, { events: true }).events.slice(-2);
    expect(events.map(({ event, turn }) => [event.type, turn])).toEqual([
      ["tool_end", 1],
      ["fail", 1],
    ]);
    expect(events[0]?.event).toMatchObject({ callId: "b", modelCallId: "m", outcome: { kind: "error" } });
    expect(events[1]?.event).toMatchObject({ code: "INTERRUPTED" });
    expect(readChat(folder).turns[0]?.status).toBe("interrupted");

    addTurn(chat, "on", assistant(text("fine")));
    chat.close();
    chat = openChat(folder);
    expect(chat.interrupted).toEqual([]);
    expect(readChat(folder).turns.map((turn) => turn.status)).toEqual(["interrupted", "done"]);
  });

  it("the transcript of a cut-off run is as long as its conversation", async () => {
    const id = nextId();
    const child = await startChild({ kind: "turns", chat: { ...place, id }, turns: 3 });
    await child.said(/^started$/);
    child.process.kill("SIGKILL");
    await child.ended;
    const file = transcriptFile(place.configDir, place.workspace, id);
    const whole = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, whole.slice(0, 2).join("\n"));
    openChat(chatFolder(place.configDir, place.workspace, id)).close();
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines.slice(0, whole.length)).toEqual(whole);
    expect(lines.slice(whole.length).map((line) => JSON.parse(line))).toEqual([
      { type: "turn_ended", status: "error" },
    ]);
  });

  it("a cut-off run releases its chat at once", async () => {
    chat.close();
    const child = await startChild({ kind: "hold", folder, ms: 60_000 });
    await child.said(/^held$/);
    child.process.kill("SIGKILL");
    await child.ended;
    const started = performance.now();
    chat = openChat(folder);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("a chat in use", () => {
  it("a chat in use can be read, and the next writer waits for it", async () => {
    addThreeTurns(chat);
    chat.close();
    const child = await startChild({ kind: "hold", folder, ms: 600 });
    await child.said(/^held$/);
    expect(readChat(folder).messages).toHaveLength(8);
    chat = openChat(folder);
    expect(child.lines).toEqual(["held"]);
    await child.said(/^closed$/);
    await child.ended;
  });
});

describe("reading", () => {
  it("reading a chat creates no files next to its database", () => {
    addThreeTurns(chat);
    chat.close();
    const before = readdirSync(folder).sort();
    readChat(folder, { events: true });
    rmSync(join(folder, "meta.json"));
    readMetadata(folder);
    expect([...readdirSync(folder), "meta.json"].sort()).toEqual(before);
  });

  const notRoot = process.getuid?.() !== 0 && "only root becomes another user";
  it.skipIf(notRoot)(orSkipped("works in a folder where nothing can be written, log or not", notRoot), async () => {
    const id = nextId();
    const child = await startChild({ kind: "write", chat: { ...place, id }, events: 5_000, bytes: 10 });
    await child.said(/^kept 45$/);
    child.process.kill("SIGKILL");
    await child.ended;
    addThreeTurns(chat);
    chat.close();
    const cut = chatFolder(place.configDir, place.workspace, id);
    expect(existsSync(join(cut, "store.db-wal"))).toBe(true);
    rmSync(join(cut, "store.db-shm"), { force: true });
    const program = join(place.base, "read.mjs");
    await bundleReader(program);
    spawnSync("chown", ["-R", "65534:65534", place.base]);
    for (const each of [folder, cut]) chmodSync(each, 0o500);
    const run = spawnSync(process.execPath, [program, folder, cut], { uid: 65_534, gid: 65_534, encoding: "utf8" });
    for (const each of [folder, cut]) chmodSync(each, 0o700);
    expect(run.stderr).toBe("");
    const [whole, part] = JSON.parse(run.stdout) as { messages: number; events: number }[];
    expect(whole?.messages).toBe(8);
    expect(part?.events).toBeGreaterThanOrEqual(45);
  });

  it("opening a missing chat says that it is missing", () => {
    for (const work of [readChat, readMetadata, readMessages, openChat])
      expect(() => work(join(place.configDir, "chats/x", nextId()))).toThrow(code("SESSION_NOT_FOUND"));
    mkdirSync(join(place.base, "empty"));
    expect(() => openChat(join(place.base, "empty"))).toThrow(code("SESSION_NOT_FOUND"));
    expect(readdirSync(join(place.base, "empty"))).toEqual([]);
  });

  it("reading a damaged chat names missing and altered parts, reads the rest and counts whole turns", () => {
    addThreeTurns(chat);
    chat.close();
    const database = openDatabase(store());
    const ids = database
      .prepare("SELECT blob FROM courser_messages ORDER BY sequence")
      .all()
      .map((row) => row["blob"]!);
    database.prepare("DELETE FROM blobs WHERE id = ?").run(ids[4]!);
    database.prepare("UPDATE blobs SET data = replace(data, '14', '15') WHERE id = ?").run(ids.at(-1)!);
    database.close();
    const record = readChat(folder);
    expect(record.problems).toMatchObject([
      { code: "STORE_BLOB_HASH", blobs: [ids.at(-1)] },
      { code: "STORE_MISSING_BLOB", blobs: [ids[4]] },
    ]);
    expect(record.wholeTurns).toBe(1);
    expect(record.messages).toHaveLength(7);
    for (const work of [openChat, readMessages])
      expect(() => work(folder)).toThrow(
        expect.objectContaining({ code: "STORE_BLOB_HASH", message: expect.stringContaining(String(ids[4])) }),
      );
  });
});

describe("damage", () => {
  it("a damaged chat never causes a crash, a new chat, or altered words for the model", () => {
    for (let index = 0; index < 4; index++) addThreeTurns(chat);
    addTurn(chat, "y".repeat(20_000), assistant(text("z".repeat(9_000))));
    chat.close();
    const whole = readFileSync(store());
    const told = readMessages(folder);
    const random = (below: number) => Math.floor(chance() * below);
    for (let round = 0; round < 60; round++) {
      for (const name of readdirSync(folder)) if (name.startsWith("store.db")) rmSync(join(folder, name));
      const bytes = Buffer.from(whole);
      const first = random(bytes.length);
      const length = [1, 16, 4096][round % 3]!;
      for (let at = first; at < Math.min(first + length, bytes.length); at++)
        bytes[at] = round % 2 === 0 ? 0 : random(256);
      writeFileSync(store(), bytes);
      const where = `${length} bytes at ${first}`;
      try {
        readChat(folder, { events: true });
        chat = openChat(folder);
        expect(isDeepStrictEqual(chat.messages, told), where).toBe(true);
        chat.close();
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        expect([where, error.code]).toEqual([where, expect.stringMatching(/^STORE_(CORRUPT|BLOB_HASH|MISSING_BLOB)$/)]);
        expect(readFileSync(store()).equals(bytes), where).toBe(true);
      }
    }
  });

  it("when a chat's compacted view was altered, the whole history is used", () => {
    const all = addThreeTurns(chat);
    chat.replace([user("short")]);
    chat.close();
    const database = openDatabase(store());
    database.exec("UPDATE courser_views SET body = replace(body, 'short', 'wrong')");
    database.close();
    chat = openChat(folder);
    expect(chat.messages).toEqual(all);
  });

  it("damaged files beside a chat's database do not affect the chat", () => {
    addThreeTurns(chat);
    for (const name of ["meta.json", "transcript"]) {
      const file =
        name === "transcript" ? transcriptFile(place.configDir, place.workspace, chat.metadata.id) : join(folder, name);
      rmSync(file);
      mkdirSync(file);
    }
    addTurn(chat, "on", assistant(text("fine")));
    chat.rewindTo(4);
    chat.close();
    expect(readMetadata(folder)).toMatchObject({ hasConversation: true });
    chat = openChat(folder);
    addTurn(chat, "still", { role: "user", parts: [result("x", "y")] });
    expect(readChat(folder).messages).toHaveLength(10);
  });

  it("a damaged chat database is copied aside once", () => {
    chat.close();
    writeFileSync(store(), "no database, only words");
    copyFileSync(store(), join(place.base, "damaged"));
    for (let index = 0; index < 3; index++) expect(() => readChat(folder)).toThrow(code("STORE_CORRUPT"));
    expect(() => openChat(folder)).toThrow(/A copy is kept as .*store\.db\.corrupt-\d{8}T\d{6}Z/);
    const aside = readdirSync(folder).filter((name) => name.includes("corrupt"));
    expect(aside).toHaveLength(1);
    expect(readFileSync(join(folder, aside[0]!))).toEqual(readFileSync(join(place.base, "damaged")));
  });
});

/** Beside the packages, because SQLite must be found from there. */
async function bundleReader(program: string): Promise<void> {
  const { build } = await import("esbuild");
  const reading = join(import.meta.dirname, "../../src/store/chats/read-chat.ts");
  await build({
    stdin: {
      contents: `import { readChat } from ${JSON.stringify(reading)};
        const seen = process.argv.slice(2).map((folder) => readChat(folder, { events: true }));
        console.log(JSON.stringify(seen.map(({ messages, events }) => ({ messages: messages.length, events: events.length }))));`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: program,
    logLevel: "error",
  });
  copySqlite(place.base);
}
