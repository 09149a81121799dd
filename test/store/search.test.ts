// The search over every chat: what is found, that any text may be typed, and that the index can be lost without harm.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { deleteChat } from "../../src/store/chats/delete-chat.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { searchChats } from "../../src/store/chats/search.ts";
import { indexFile } from "../../src/store/chats/search-index.ts";
import { snippetOf } from "../../src/store/chats/snippet.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { addTurn, assistant, call, createPlace, newChat, type Place, result, text } from "./chat-support.ts";
import { writeOriginalChat } from "./original-chat.ts";

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

function chatAbout(prompt: string, answer: string, title?: string): ChatWriter {
  const chat = newChat(place, title);
  addTurn(chat, prompt, assistant(text(answer)));
  chat.close();
  return chat;
}

const found = (words: string) => searchChats(place.configDir, words).map((hit) => hit.metadata.id);

describe("searchChats", () => {
  it("words in prompts, answers, calls, results and titles are found", () => {
    const chat = newChat(place, "Weekly cleanup");
    addTurn(
      chat,
      "tidy the cupboard",
      assistant(text("I look."), call("c1", "Shell", { command: "find . -name zebra.txt" })),
      { role: "user", parts: [result("c1", "./attic/zebra.txt: permission denied")] },
      assistant(text("The giraffe is in the attic.")),
    );
    chat.close();
    chatAbout("something else", "Nothing to see.");
    for (const words of ["cupboard", "giraffe", "zebra", "permission denied", "cleanup", "Shell"])
      expect(found(words), words).toEqual([chat.metadata.id]);
    expect(found("elephant")).toEqual([]);
    expect(found("   ")).toEqual([]);
  });

  it("every word must match, by prefix or as a phrase", () => {
    const one = chatAbout("why is the connection refused?", "The port is closed.").metadata.id;
    const other = chatAbout("the connection works; who refused it?", "Nobody.").metadata.id;
    expect(found("connection refused").sort()).toEqual([one, other].sort());
    expect(found('"connection refused"')).toEqual([one]);
    expect(found("connec ref port")).toEqual([one]);
    expect(found('"connection ref"')).toEqual([]);
    expect(found('"connection refused')).toEqual([one]);
  });

  it("names in code are found whole, by prefix, or by a part", () => {
    const { id } = chatAbout(
      "explain parseCommandLine and MAX_TURNS in src/cli/flags.ts",
      "See XMLHttpRequest.",
    ).metadata;
    for (const name of [
      "parseCommandLine",
      "parsecomm",
      "CommandLine",
      "Line",
      "MAX_TURNS",
      "turns",
      "flags.ts",
      "src/cli/flags.ts",
      "HttpRequest",
    ])
      expect(found(name), name).toEqual([id]);
    chatAbout("straße, naïve", "ok");
    expect(found("naive")).toHaveLength(1);
  });

  it.each([
    '"',
    '""',
    '" "',
    "'",
    "AND",
    "OR NOT",
    "NEAR(",
    "a AND",
    "*",
    "-",
    "--force",
    "-x",
    "^a",
    "a:b",
    "title:x",
    "(",
    ")",
    "{a b}",
    "a+b",
    "\\",
    "%",
    "_",
    "??",
    "->",
    "=>",
    "!==",
    "🎉",
    "漢字",
    "a\nb",
    "a\tb",
    "'; DROP TABLE chats; --",
    "\u0001",
    "\ufffd",
    "\ud800",
    "col umn : x",
    '"a" "b',
    "a*b*",
    "**",
    "<user_query>",
    "$(x)",
    "0",
    "é",
    "//",
    "[x]",
  ])("%j is searched as words", (words) => {
    chatAbout("hello", "world");
    expect(() => found(words)).not.toThrow();
    expect(found("hello")).toHaveLength(1);
  });

  it("search finds text without letters", () => {
    const { id } = chatAbout("what does x => y !== z 🎉 mean?", "A party.").metadata;
    chatAbout("hello", "world");
    for (const sign of ["=>", "!==", "🎉"]) expect(found(sign), sign).toEqual([id]);
  });

  it("search hits show their place in the chat, best first", () => {
    const far = `${"Filler words stand here. ".repeat(100)}The needle is in the haystack.${" More filler.".repeat(100)}`;
    chatAbout("tell me a story", far);
    const titled = chatAbout("other", "words", "About the needle").metadata.id;
    const hits = searchChats(place.configDir, "needle");
    expect(hits[0]!.metadata).toMatchObject({ id: titled, title: "About the needle", workspace: place.workspace });
    expect(hits[1]!.snippet).toMatch(/^… .*The needle is in the haystack\..* …$/);
    expect(hits[1]!.snippet.length).toBeLessThan(200);
    expect(searchChats(place.configDir, "needle", { limit: 1 })).toHaveLength(1);
  });

  it("chat search notices later messages, new titles and removed chats", () => {
    const chat = chatAbout("first words", "ok");
    expect(found("later")).toEqual([]);
    const opened = openChat(chat.metadata.folder);
    addTurn(opened, "later words", assistant(text("yes")));
    expect(found("later")).toEqual([chat.metadata.id]); // while a run goes on
    opened.close();
    expect(found("later")).toEqual([chat.metadata.id]);
    const again = openChat(chat.metadata.folder);
    again.rename("A zebra");
    again.close();
    expect(searchChats(place.configDir, "zebra")[0]!.metadata.title).toBe("A zebra");
    deleteChat(place.configDir, chat.metadata.folder);
    expect(found("later")).toEqual([]);
  });

  it("chats of the original are found and left unchanged", () => {
    const folder = writeOriginalChat(place, {
      id: "aaaa1111-0000-4000-8000-000000000001",
      name: "Old one",
      prompts: ["where is the walrus?"],
    });
    const before = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("hex")]);
    expect(found("walrus")).toEqual([basename(folder)]);
    expect(found("old")).toEqual([basename(folder)]);
    expect(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("hex")])).toEqual(before);
  });

  it("a chat whose store is gone is forgotten", () => {
    const chat = chatAbout("hello", "world");
    expect(found("hello")).toHaveLength(1);
    rmSync(join(chat.metadata.folder, "store.db"));
    expect(found("hello")).toEqual([]);
    expect(found("hello")).toEqual([]);
  });

  it("searching chats skips those that cannot be read", () => {
    const { id } = chatAbout("hello", "world").metadata;
    const broken = chatAbout("hello again", "world");
    truncateSync(join(broken.metadata.folder, "store.db"), 700);
    rmSync(join(broken.metadata.folder, "store.db-wal"), { force: true });
    expect(found("hello")).toEqual([id]);
  });
});

describe("the search index", () => {
  const progressOf = () => {
    const seen: [number, number][] = [];
    const notices: string[] = [];
    const hits = searchChats(place.configDir, "hello", {
      onProgress: (done, total) => seen.push([done, total]),
      onNotice: (notice) => notices.push(notice),
    });
    return { read: seen.at(-1)?.[1] ?? 0, notices, hits: hits.length };
  };

  it("the chat search index is private, and reads only what is new", () => {
    for (const word of ["one", "two", "three"]) chatAbout(`hello ${word}`, "ok");
    expect(progressOf()).toEqual({ read: 3, notices: [], hits: 3 });
    expect(progressOf()).toEqual({ read: 0, notices: [], hits: 3 });
    chatAbout("hello four", "ok");
    expect(progressOf()).toEqual({ read: 1, notices: [], hits: 4 });
    expect(statSync(indexFile(place.configDir)).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(indexFile(place.configDir))).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["deleted", (file: string) => rmSync(file)],
    ["emptied", (file: string) => truncateSync(file, 0)],
    ["cut", (file: string) => truncateSync(file, statSync(file).size - 5000)],
    [
      "no database",
      (file: string) => writeFileSync(file, "this is not a database at all, and it is long enough".repeat(20)),
    ],
    ["of another version", (file: string) => run(file, "PRAGMA user_version = 99; DROP TABLE chats")],
    ["without its tables", (file: string) => run(file, "DROP TABLE texts")],
  ])("the chat search index is rebuilt when it was %s", (_, harm) => {
    for (const word of ["one", "two", "three"]) chatAbout(`hello ${word}`, "ok ".repeat(2000));
    progressOf();
    harm(indexFile(place.configDir));
    expect(progressOf()).toEqual({ read: 3, notices: [], hits: 3 });
    expect(progressOf()).toEqual({ read: 0, notices: [], hits: 3 });
  });

  it("the chat search index contains no word of a deleted chat", () => {
    const chat = chatAbout("where is the walrus?", "In the parsePolarSea.", "Walrusology");
    const other = chatAbout("hello", "ok");
    expect(found("walrus")).toHaveLength(1);
    const letters = () => readFileSync(indexFile(place.configDir)).toString("latin1").toLowerCase();
    expect(letters()).toContain("walrus");
    deleteChat(place.configDir, chat.metadata.folder);
    expect(letters()).not.toMatch(/walr|polarsea/);
    expect(progressOf()).toEqual({ read: 0, notices: [], hits: 1 });
    writeFileSync(indexFile(place.configDir), "walrus ".repeat(1000));
    deleteChat(place.configDir, other.metadata.folder);
    expect(existsSync(indexFile(place.configDir))).toBe(false);
  });

  it("the chat search index is built in memory, with a notice, if it cannot be stored", () => {
    chatAbout("hello", "ok");
    writeFileSync(join(place.configDir, "courser"), "a file where the folder should be");
    const { notices, ...rest } = progressOf();
    expect(rest).toEqual({ read: 1, hits: 1 });
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(
      /^The index .*search\.db cannot be kept \(.+\), so every chat is read for this search\.$/,
    );
  });

  it("search works in a read-only home", () => {
    chatAbout("hello", "ok");
    mkdirSync(join(place.configDir, "courser"), { recursive: true });
    chmodSync(join(place.configDir, "courser"), 0o500);
    expect(progressOf().hits).toBe(1); // as root it can be written all the same
    chmodSync(join(place.configDir, "courser"), 0o700);
  });
});

describe("snippets of hits", () => {
  it("a snippet shows the place with most of the words", () => {
    const long = `alpha ${"x ".repeat(300)} beta ${"x ".repeat(300)} alpha beta gamma ${"x ".repeat(300)}`;
    expect(snippetOf(long, ["alpha", "beta", "gamma"])).toContain("alpha beta gamma");
    expect(snippetOf("short text", ["text"])).toBe("short text");
    expect(snippetOf("short text", ["missing"])).toBe("short text");
    expect(snippetOf("a [b] (c)*", ["(c)*"])).toBe("a [b] (c)*");
    expect(snippetOf("two\n\nlines", ["lines"])).toBe("two lines");
  });
});

function run(file: string, sql: string): void {
  const database = openDatabase(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
