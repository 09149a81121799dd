// Which chat is meant: by id, by its beginning, counted from the newest; and what becomes of chats that are copied or deleted.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { deleteChat } from "../../src/store/chats/delete-chat.ts";
import { findChat, findResumed, forkChat, listChats, nthChat } from "../../src/store/chats/find-chat.ts";
import { chatsDir, transcriptFile } from "../../src/store/chats/layout.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { addThreeTurns, addTurn, assistant, createPlace, newChat, type Place, text } from "./chat-support.ts";
import { writeOriginalChat } from "./original-chat.ts";

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

const first = "aaaa1111-0000-4000-8000-000000000001";
const second = "aaaa2222-0000-4000-8000-000000000002";
const third = "bbbb3333-0000-4000-8000-000000000003";

/** A chat with one turn, last changed `age` minutes ago. */
function chatOf(id: string, age: number, { workspace = place.workspace, prompt = "hello", isEmpty = false } = {}) {
  const chat = createChat({ configDir: place.configDir, workspace }, { id, mode: "default" });
  if (!isEmpty) addTurn(chat, prompt, assistant(text("Hi.")));
  chat.close();
  const file = join(chat.metadata.folder, "meta.json");
  const updatedAtMs = Date.now() - age * 60_000;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), updatedAtMs }));
  return chat.metadata.folder;
}

function failure(work: () => unknown): UserError {
  try {
    work();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

describe("listChats", () => {
  it("chats are listed newest first, of one workspace or all", () => {
    const other = join(place.base, "other");
    chatOf(first, 30);
    chatOf(second, 10, { prompt: "fix the parser" });
    chatOf(third, 20, { workspace: other });
    expect(listChats(place.configDir).map((chat) => chat.id)).toEqual([second, third, first]);
    expect(listChats(place.configDir, { workspace: place.workspace }).map((chat) => chat.id)).toEqual([second, first]);
    expect(listChats(place.configDir)[0]).toMatchObject({
      workspace: place.workspace,
      prompt: "fix the parser",
      mode: "default",
      hasConversation: true,
    });
    expect(listChats(place.configDir, { workspace: "/nowhere" })).toEqual([]);
  });

  it("chats of the original are listed and left unchanged", () => {
    const folder = writeOriginalChat(place, { id: first, name: "The old one", prompts: ["what is 7+7?"] });
    const alone = writeOriginalChat(place, { id: second, prompts: ["say hello"], beside: false });
    writeOriginalChat(place, {
      id: third,
      prompts: ["hello"],
      beside: { updatedAtMs: 1_700_000_000_000, title: "Named beside" },
    });
    const before = contentsOf(place.configDir);
    const chats = listChats(place.configDir, { workspace: place.workspace });
    expect(chats.find((chat) => chat.id === first)).toMatchObject({
      folder,
      title: "The old one",
      workspace: place.workspace,
    });
    expect(chats.find((chat) => chat.id === second)).toMatchObject({
      folder: alone,
      prompt: "say hello",
      workspace: place.workspace,
    });
    expect(chats.at(-1)).toMatchObject({ id: third, title: "Named beside", updatedAt: 1_700_000_000_000 });
    expect(basename(nthChat(place.configDir, place.workspace, 1))).toBe(second);
    findChat(place.configDir, "aaaa1", place.workspace);
    expect(contentsOf(place.configDir)).toEqual(before);
  });

  it("ls cuts a chat's prompt at a whole line and character", () => {
    const prompts = ["fix it\r\nplease", "\u{1f389}".repeat(400), `x${"\u{1f389}".repeat(400)}`];
    for (const [index, id] of [first, second, third].entries()) chatOf(id, index, { prompt: prompts[index]! });
    const shown = listChats(place.configDir).map((chat) => chat.prompt!);
    expect(shown[0]).toBe("fix it");
    for (const prompt of shown) expect(prompt).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });

  it("listing chats skips other folders and shows unreadable chats", () => {
    chatOf(first, 5);
    const project = dirname(findChat(place.configDir, first, place.workspace));
    mkdirSync(join(project, "notes"));
    mkdirSync(join(project, second)); // cut off while it was made
    mkdirSync(join(project, third));
    writeFileSync(join(project, third, "store.db"), "this was a database once");
    writeFileSync(join(chatsDir(place.configDir), "README"), "a file");
    const chats = listChats(place.configDir);
    expect(chats.map((chat) => chat.id).sort()).toEqual([first, third]);
    expect(chats.find((chat) => chat.id === third)!.title).toBe("(this chat cannot be read)");
  });

  it("the list of chats is empty if the chats folder does not exist", () => {
    expect(listChats(place.configDir)).toEqual([]);
  });
});

describe("findChat", () => {
  it("a chat is found by its id in any spelling, and by any unique prefix", () => {
    const folder = chatOf(first, 1);
    chatOf(second, 2);
    for (const wanted of [first, first.toUpperCase(), ` ${first} `, "aaaa1", "aaaa1111-0", first.slice(0, -1)])
      expect(findChat(place.configDir, wanted, place.workspace), wanted).toBe(folder);
  });

  it("a chat is looked for in this workspace first, then in all", () => {
    const other = join(place.base, "other");
    const here = chatOf(first, 9);
    const there = chatOf(second, 1, { workspace: other });
    expect(findChat(place.configDir, "aaaa", place.workspace)).toBe(here);
    expect(findChat(place.configDir, "aaaa", other)).toBe(there);
    expect(findChat(place.configDir, second, place.workspace)).toBe(there);
    expect(findChat(place.configDir, "aaaa2", place.workspace)).toBe(there);
  });

  it("the error for an ambiguous chat id prefix lists the candidates", () => {
    chatOf(first, 9, { prompt: "fix the parser\nplease" });
    chatOf(second, 1, { prompt: "say hello" });
    const { code, message } = failure(() => findChat(place.configDir, "aaaa", place.workspace));
    expect(code).toBe("SESSION_NOT_FOUND");
    expect(message).toBe(
      `Session not found: 2 chats start with aaaa:\n  ${second}  say hello\n  ${first}  fix the parser\nUse more digits of the id.`,
    );
  });

  it.each([
    [10, undefined],
    [12, "  … and 2 more"],
  ])("an ambiguous id prefix lists ten of %i chats and counts the rest", (count, rest) => {
    for (let at = 0; at < count; at++) chatOf(`aaaa1111-0000-4000-8000-0000000000${10 + at}`, at);
    const { message } = failure(() => findChat(place.configDir, "aaaa", place.workspace));
    const lines = message.split("\n");
    expect(lines[0]).toBe(`Session not found: ${count} chats start with aaaa:`);
    expect(lines.slice(1, 11).every((line) => line.startsWith("  aaaa1111-"))).toBe(true);
    expect(lines.slice(11)).toEqual([...(rest === undefined ? [] : [rest]), "Use more digits of the id."]);
  });

  it("the error for a missing chat begins with 'Session not found:', which other programs look for", () => {
    expect(failure(() => findChat(place.configDir, third, place.workspace, "cursor-agent")).message).toBe(
      `Session not found: the chat ${third} was not found in ${chatsDir(place.configDir)}. To list the chats: cursor-agent ls --all`,
    );
    expect(failure(() => findChat(place.configDir, "bbbb", place.workspace)).message).toMatch(
      /^Session not found: no chat starts with bbbb in .* courser ls --all$/,
    );
    expect(failure(() => findChat(place.configDir, "bbb", place.workspace)).message).toMatch(
      /at least its first 4 digits/,
    );
  });

  it("the error says how to send a prompt to the latest chat", () => {
    const resumed = (wanted: string) => () => findResumed(place.configDir, wanted, place.workspace, "courser");
    expect(failure(resumed("fix the bug")).message).toContain(
      'Session not found: "fix the bug" is not a chat id. To resume the latest chat: courser --continue "fix the bug"',
    );
    expect(failure(resumed(third)).message).toContain(`the chat ${third} was not found`);
    const folder = chatOf(first, 1);
    for (const wanted of [first, "AAAA1", "-1"]) expect(resumed(wanted)()).toBe(folder);
    expect(failure(() => findChat(place.configDir, "fix the bug", place.workspace)).message).toBe(
      'Session not found: "fix the bug" is not a chat id. To list the chats: courser ls --all',
    );
  });

  it.each([
    "../../etc",
    "../../../etc/passwd",
    "..",
    ".",
    "/",
    "",
    " ",
    "aaaa1111/../../..",
    "aaaa1111-0000-4000-8000-000000000001/..",
    "aaaa1111-0000-4000-8000-0000000000012",
    "aaaa*",
    "aaaa11110",
    "aaaa-",
    "\u0000",
  ])("a wanted chat %j is never used as a path", (wanted) => {
    chatOf(first, 1);
    const { code, message } = failure(() => findChat(place.configDir, wanted, place.workspace));
    expect(code).toBe("SESSION_NOT_FOUND");
    expect(message).toMatch(/^Session not found: /);
  });

  it("the error for a missing chat does not repeat a long argument", () => {
    const { message } = failure(() => findChat(place.configDir, "x".repeat(100_000), place.workspace));
    expect(message.length).toBeLessThan(1000);
  });

  it("a search for chats does not follow links to other folders", () => {
    const folder = chatOf(first, 1);
    const aside = join(place.base, "aside");
    renameSync(dirname(folder), aside);
    symlinkSync(aside, join(chatsDir(place.configDir), "linked"));
    expect(failure(() => findChat(place.configDir, first, "/elsewhere")).code).toBe("SESSION_NOT_FOUND");
    expect(listChats(place.configDir)).toEqual([]);
  });
});

describe("nthChat", () => {
  it("resuming by number counts chats from the newest and ignores empty ones", () => {
    const oldest = chatOf(first, 30);
    const newest = chatOf(second, 10);
    chatOf(third, 1, { isEmpty: true });
    expect(nthChat(place.configDir, place.workspace, 1)).toBe(newest);
    expect(nthChat(place.configDir, place.workspace, 2)).toBe(oldest);
    expect(findChat(place.configDir, "-1", place.workspace)).toBe(newest);
    expect(findChat(place.configDir, "-2", place.workspace)).toBe(oldest);
    expect(failure(() => findChat(place.configDir, "-3", place.workspace)).message).toMatch(
      /^Session not found: there are 2 chats of .*, so there is no -3\. To see them: courser ls$/,
    );
    rmSync(oldest, { recursive: true });
    rmSync(newest, { recursive: true });
    expect(basename(nthChat(place.configDir, place.workspace, 1))).toBe(third);
  });

  it("resuming uses chats of all workspaces if this one has none", () => {
    const folder = chatOf(first, 5);
    expect(nthChat(place.configDir, "/elsewhere", 1)).toBe(folder);
    expect(failure(() => nthChat(place.configDir, "/elsewhere", 2)).message).toBe(
      "Session not found: there is one chat in all, so there is no -2. To see them: courser ls --all",
    );
    expect(failure(() => nthChat(join(place.base, "empty"), place.workspace, 1)).message).toMatch(
      /^Session not found: no chat to resume .* To start one: courser "…"$/,
    );
  });
});

describe("forkChat", () => {
  let chat: ChatWriter;
  beforeEach(() => {
    chat = newChat(place, "The first");
    addThreeTurns(chat);
    chat.saveState("todos", [{ id: "1" }]);
  });
  afterEach(() => chat.close());

  it("forking copies the whole chat, even while it is in use", () => {
    const fork = forkChat(place.configDir, chat.metadata.folder);
    expect(fork.id).not.toBe(chat.metadata.id);
    const [one, other] = [readChat(chat.metadata.folder, { events: true }), readChat(fork.folder, { events: true })];
    expect(other.messages).toEqual(one.messages);
    expect(other.events).toEqual(one.events);
    expect(other.turns).toEqual(one.turns);
    expect(other.metadata).toMatchObject({ id: fork.id, title: "The first", workspace: place.workspace });
    expect(JSON.parse(hexMeta(fork.folder)).agentId).toBe(fork.id);

    const opened = openChat(fork.folder);
    expect(opened.messages).toEqual(chat.messages);
    expect(opened.interrupted).toEqual([]);
    expect(opened.state("todos")).toEqual([{ id: "1" }]);
    addTurn(opened, "only here", assistant(text("Yes.")));
    opened.close();
    expect(readChat(chat.metadata.folder).turns).toHaveLength(3);
    expect(readChat(fork.folder).turns).toHaveLength(4);
  });

  it("a forked chat is as private as a new chat, and has a transcript", () => {
    const fork = forkChat(place.configDir, chat.metadata.folder);
    expect(statSync(fork.folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(fork.folder, "store.db")).mode & 0o777).toBe(0o600);
    const transcript = transcriptFile(place.configDir, place.workspace, fork.id);
    expect(readFileSync(transcript, "utf8")).toContain("It says hello.");
    expect(readdirSync(fork.folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  it("a chat forked up to a turn has what the model was told then", () => {
    chat.replace([{ role: "user", parts: [{ type: "text", text: "In short: sums." }] }]);
    addTurn(chat, "and now?", assistant(text("Later.")));
    const whole = openChat(forkChat(place.configDir, chat.metadata.folder).folder);
    expect(whole.messages).toEqual(chat.messages);
    whole.close();
    const fork = forkChat(place.configDir, chat.metadata.folder, { upToTurn: 1 });
    const opened = openChat(fork.folder);
    expect(opened.turn).toBe(1);
    expect(opened.messages).toEqual(
      readChat(chat.metadata.folder)
        .messages.slice(0, 2)
        .map(({ message }) => message),
    );
    opened.close();
    expect(readFileSync(transcriptFile(place.configDir, place.workspace, fork.id), "utf8")).not.toContain(
      "It says hello.",
    );
  });

  it("forking a chat accepts a given id, and refuses taken ids and missing turns", () => {
    expect(forkChat(place.configDir, chat.metadata.folder, { id: third.toUpperCase() }).id).toBe(third);
    expect(failure(() => forkChat(place.configDir, chat.metadata.folder, { id: third })).message).toContain("already");
    expect(failure(() => forkChat(place.configDir, chat.metadata.folder, { id: "../x" })).code).toBe("USAGE");
    expect(failure(() => forkChat(place.configDir, chat.metadata.folder, { upToTurn: 4 })).message).toContain(
      "has no turn 4: its turns are 1 to 3",
    );
    expect(listChats(place.configDir)).toHaveLength(2);
  });

  it("a fork of the original CLI's chat is one of ours, and the original stays unchanged", () => {
    const folder = writeOriginalChat(place, { id: first, name: "Old", prompts: ["what is 7+7?", "and 8+8?"] });
    const before = contentsOf(folder);
    const fork = forkChat(place.configDir, folder, { upToTurn: 1 });
    expect(contentsOf(folder)).toEqual(before);
    expect(readChat(fork.folder).turns.map((turn) => turn.prompt)).toEqual(["what is 7+7?"]);
    expect(fork).toMatchObject({ title: "Old", workspace: place.workspace });
  });

  it("forking an incomplete chat saves its whole turns", () => {
    chat.close();
    const lost = readChat(chat.metadata.folder).messages.find(({ turn }) => turn === 2)!;
    const database = openDatabase(join(chat.metadata.folder, "store.db"));
    database.exec(`DELETE FROM blobs WHERE id = (SELECT blob FROM courser_messages WHERE sequence = ${lost.sequence})`);
    database.close();
    const losses: string[] = [];
    const fork = forkChat(place.configDir, chat.metadata.folder, { onLoss: (message) => losses.push(message) });
    const copy = readChat(fork.folder);
    expect(copy.problems).toEqual([]);
    expect(copy.turns.map((turn) => turn.prompt)).toEqual(["what is 7+7?"]);
    expect(losses).toEqual([expect.stringMatching(/is incomplete; 1 of 3 turns were copied\. .* missing: /)]);
  });

  it("a chat without a complete turn cannot be forked", () => {
    chat.close();
    const database = openDatabase(join(chat.metadata.folder, "store.db"));
    database.exec("DELETE FROM blobs WHERE id = (SELECT blob FROM courser_messages WHERE sequence = 1)");
    database.close();
    expect(failure(() => forkChat(place.configDir, chat.metadata.folder)).code).toBe("STORE_MISSING_BLOB");
    expect(listChats(place.configDir)).toHaveLength(1);
  });
});

describe("deleteChat", () => {
  it("deleting a chat removes its store and every transcript, and nothing else", () => {
    const folder = chatOf(first, 1);
    const other = chatOf(second, 2);
    const transcript = transcriptFile(place.configDir, place.workspace, first);
    expect(existsSync(transcript)).toBe(true);
    const flat = join(dirname(dirname(transcript)), `${first}.jsonl`);
    writeFileSync(flat, "{}\n");
    deleteChat(place.configDir, folder);
    for (const gone of [folder, dirname(transcript), flat]) expect(existsSync(gone), gone).toBe(false);
    expect(existsSync(other)).toBe(true);
    expect(readdirSync(dirname(other))).toEqual([second]);
    deleteChat(place.configDir, other);
    expect(readdirSync(chatsDir(place.configDir))).toEqual([]);
  });

  it("a chat in use is not deleted", () => {
    const chat = newChat(place);
    addThreeTurns(chat);
    const { code } = failure(() => deleteChat(place.configDir, chat.metadata.folder));
    expect(code).toBe("STORE_LOCKED");
    chat.close();
    expect(readChat(chat.metadata.folder).turns).toHaveLength(3);
    deleteChat(place.configDir, chat.metadata.folder);
    expect(listChats(place.configDir)).toEqual([]);
  });

  it("sessions delete removes only chats", () => {
    mkdirSync(join(place.configDir, "chats", "project"), { recursive: true });
    for (const folder of [place.workspace, join(place.configDir, "chats", "project"), join(place.base, "x/y", first)])
      expect(() => deleteChat(place.configDir, folder)).toThrow(/not a folder of a chat/);
    expect(existsSync(place.workspace)).toBe(true);
  });
});

function hexMeta(folder: string): string {
  const database = openDatabase(join(folder, "store.db"), { readOnly: true });
  const value = database.prepare("SELECT value FROM meta WHERE key = '0'").get()?.["value"];
  database.close();
  return Buffer.from(String(value), "hex").toString();
}

/** Every file below a folder with its bytes. */
function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}
