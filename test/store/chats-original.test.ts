// Stores as the original writes them, made by hand from their description: read, and gone on with.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import { forkChat } from "../../src/store/chats/fork-chat.ts";
import { transcriptFile } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readChat, readMessages, readMetadata } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { addThreeTurns, addTurn, assistant, createPlace, newChat, type Place, text, user } from "./chat-support.ts";
import { type OriginalOptions, originalBlobs, sha, writeOriginalStore } from "./original-store.ts";

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

const conversation: Message[] = [
  user("read a.txt and b.txt"),
  {
    role: "assistant",
    parts: [
      { type: "thinking", text: "Hm." },
      { type: "text", text: "I read." },
      { type: "tool_call", id: "t1", name: "Read", args: { path: "a.txt" } },
      { type: "tool_call", id: "t2", name: "Read", args: { path: "b.txt" } },
    ],
  },
  {
    role: "user",
    parts: [
      { type: "tool_result", id: "t1", text: "A", isError: false },
      { type: "tool_result", id: "t2", text: "B", isError: true },
    ],
  },
  { role: "assistant", parts: [text("Done.")] },
  user("thanks"),
  { role: "assistant", parts: [text("You are welcome.")] },
];

const writeOriginal = (messages: readonly object[] = originalBlobs, options: OriginalOptions = {}) =>
  writeOriginalStore(place, messages, options);
const messagesIn = (folder: string) => readChat(folder).messages.map(({ message }) => message);

describe("a store of the original", () => {
  it("a chat of the original CLI is read in root order, without system prompt, and with prompts unwrapped", () => {
    const folder = writeOriginal(originalBlobs, { order: [4, 8, 0, 2, 7, 1, 3, 6, 5] });
    const record = readChat(folder, { events: true });
    expect(record.messages.map(({ message }) => message)).toEqual(conversation);
    expect(record.turns.map(({ number, prompt, status }) => [number, prompt, status])).toEqual([
      [1, "read a.txt and b.txt", "done"],
      [2, "thanks", "done"],
    ]);
    expect(record).toMatchObject({ events: [], problems: [], wholeTurns: 2 });
    expect(record.metadata).toMatchObject({
      title: "New Agent",
      mode: "auto-run",
      createdAt: 1_761_698_454_965,
      prompt: "read a.txt and b.txt",
      hasConversation: true,
    });
    expect(record.metadata.updatedAt).toBeGreaterThan(record.metadata.createdAt);
    expect(readMetadata(folder)).toEqual(record.metadata);
    expect(readMessages(folder)).toEqual(conversation);
  });

  it.each([
    ["JSON as text", (json: string) => json],
    ["JSON as bytes", (json: string) => Buffer.from(json)],
  ])("a chat of the original CLI is read when its metadata is %s", (_name, meta) => {
    const folder = writeOriginal(originalBlobs, { meta });
    expect(readMetadata(folder).mode).toBe("auto-run");
    expect(messagesIn(folder)).toEqual(conversation);
  });

  it("a chat of the original CLI without a root is read in table order, with a warning", () => {
    const folder = writeOriginal(originalBlobs, { root: false });
    expect(messagesIn(folder)).toEqual(conversation);
    expect(readChat(folder).problems).toMatchObject([{ code: "STORE_MISSING_BLOB", blobs: [expect.any(String)] }]);
    expect(() => openChat(folder)).toThrow(expect.objectContaining({ code: "STORE_MISSING_BLOB" }));
    expect(() => readMessages(folder)).toThrow(expect.objectContaining({ code: "STORE_MISSING_BLOB" }));
  });

  it("the workspace of an original CLI's chat comes from the file beside it", () => {
    const folder = writeOriginal();
    expect(readMetadata(folder).workspace).toBeUndefined();
    const beside = { schemaVersion: 1, createdAtMs: 1, hasConversation: true, updatedAtMs: 2, cwd: place.workspace };
    writeFileSync(join(folder, "meta.json"), JSON.stringify(beside));
    expect(readMetadata(folder)).toMatchObject({ workspace: place.workspace, mode: "auto-run" });
  });

  it.each(["wal", "delete"] as const)("a chat of the original CLI can be continued (%s)", (journal) => {
    const folder = writeOriginal(originalBlobs, { journal });
    writeFileSync(join(folder, "meta.json"), JSON.stringify({ cwd: place.workspace }));
    const chat = openChat(folder, { model: "Ours" });
    expect(chat.messages).toEqual(conversation);
    expect(chat.turn).toBe(2);
    addTurn(chat, "more", assistant(text("yes")));
    chat.close();
    const more = [...conversation, user("more"), assistant(text("yes"))];
    expect(messagesIn(folder)).toEqual(more);
    expect(readChat(folder)).toMatchObject({ problems: [], wholeTurns: 3 });
    expect(readChat(folder).turns.map((turn) => turn.prompt)).toEqual(["read a.txt and b.txt", "thanks", "more"]);

    const database = openDatabase(join(folder, "store.db"), { readOnly: true });
    const meta = String(database.prepare("SELECT value FROM meta").get()?.["value"]);
    const { latestRootBlobId, ...facts } = JSON.parse(Buffer.from(meta, "hex").toString());
    const root = database.prepare("SELECT data FROM blobs WHERE id = ?").get(latestRootBlobId)?.["data"] as Uint8Array;
    database.close();
    expect(facts).toMatchObject({ mode: "auto-run", isRunEverything: true, lastUsedModel: "Ours" });
    const system = sha(Buffer.from(JSON.stringify(originalBlobs[0])));
    expect(Buffer.from(root).toString("hex", 2, 34)).toBe(system);

    const again = openChat(folder);
    expect(again.messages).toEqual(more);
    again.rewindTo(2);
    expect(again.messages).toEqual(conversation.slice(0, 4));
    again.close();
    const transcript = readFileSync(transcriptFile(place.configDir, place.workspace, chat.metadata.id), "utf8");
    expect(transcript.trimEnd().split("\n")).toHaveLength(3);
  });

  it("open tool calls of an original CLI's chat get a result: the last in the store, others only for the model", () => {
    const cut = [...originalBlobs.slice(0, 4), originalBlobs[7]!, originalBlobs[3]!];
    const unique = cut.map((blob, index) => ({ ...blob, n: index }));
    const folder = writeOriginal(unique);
    const chat = openChat(folder);
    const results = chat.messages.map((message) => message.parts.filter((part) => part.type === "tool_result").length);
    expect(results).toEqual([0, 0, 2, 0, 0, 2]);
    chat.close();
    expect(messagesIn(folder)).toHaveLength(5);
  });

  it("a chat of the original CLI is copied unchanged", () => {
    const folder = writeOriginal();
    const copy = forkChat(place.configDir, folder);
    expect(copy).toMatchObject({ mode: "auto-run" });
    const database = openDatabase(join(copy.folder, "store.db"), { readOnly: true });
    expect(database.prepare("SELECT count(*) AS n FROM blobs").get()).toEqual({ n: originalBlobs.length + 1 });
    database.close();
  });
});

describe("a store of ours that another program continued", () => {
  it("a chat continues after another program appended messages to it", () => {
    const ours = newChat(place);
    const before = addThreeTurns(ours);
    ours.close();
    const { folder } = ours.metadata;
    const database = openDatabase(join(folder, "store.db"));
    const meta = JSON.parse(
      Buffer.from(String(database.prepare("SELECT value FROM meta").get()?.["value"]), "hex").toString(),
    );
    const old = database.prepare("SELECT data FROM blobs WHERE id = ?").get(meta.latestRootBlobId)?.["data"];
    const references = Buffer.from(old as Uint8Array).subarray(0, -18);
    const added = [
      { role: "user", content: [{ type: "text", text: "<user_query>\ntheirs\n</user_query>" }] },
      { id: "1", role: "assistant", content: [{ type: "text", text: "answer" }] },
    ].map((message) => Buffer.from(JSON.stringify(message)));
    const root = Buffer.concat([
      references,
      ...added.map((data) => Buffer.concat([Buffer.from([0x0a, 0x20]), Buffer.from(sha(data), "hex")])),
    ]);
    for (const data of [...added, root]) database.prepare("INSERT INTO blobs VALUES (?, ?)").run(sha(data), data);
    const text = JSON.stringify({ ...meta, latestRootBlobId: sha(root) });
    database.prepare("UPDATE meta SET value = ?").run(Buffer.from(text).toString("hex"));
    database.close();

    const theirs = [...before, user("theirs"), { role: "assistant", parts: [{ type: "text", text: "answer" }] }];
    expect(messagesIn(folder)).toEqual(theirs);
    expect(
      readChat(folder)
        .turns.map((turn) => [turn.number, turn.prompt, turn.status])
        .at(-1),
    ).toEqual([4, "theirs", "done"]);
    const chat = openChat(folder);
    expect(chat.messages).toEqual(theirs);
    expect(chat.turn).toBe(4);
    addTurn(chat, "ours again", assistant({ type: "text", text: "ok" }));
    chat.close();
    expect(messagesIn(folder)).toHaveLength(theirs.length + 2);
    expect(readChat(folder).problems).toEqual([]);
  });
});
