// What lists say of a chat without opening its store, which passage of a long text a search shows, and what a transcript holds.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import type { ChatMetadata } from "../../src/store/chats/chat.ts";
import {
  checkStore,
  copyAside,
  isDamagedAtAGlance,
  keptAside,
  notWhole,
  storeFailure,
} from "../../src/store/chats/damage.ts";
import {
  ageAtAGlance,
  listChats,
  metadataAtAGlance,
  newestFirst,
  shownTitle,
} from "../../src/store/chats/list-chats.ts";
import { isWord, termsIn } from "../../src/store/chats/search-terms.ts";
import { snippetOf } from "../../src/store/chats/snippet.ts";
import { openTranscript, readMetadataFile, writeMetadata } from "../../src/store/chats/transcript-files.ts";
import { projectDir } from "../../src/store/project.ts";

let configDir: string;
let folder: string;
const id = "11111111-1111-4111-8111-111111111111";
beforeEach(() => {
  configDir = mkdtempSync(join(tmpdir(), "courser-glances-"));
  folder = join(configDir, "chats/p", id);
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(configDir, { recursive: true, force: true }));

const meta = (fields: object | string) =>
  writeFileSync(join(folder, "meta.json"), typeof fields === "string" ? fields : JSON.stringify(fields));
const store = (bytes: Buffer | string = "") => writeFileSync(join(folder, "store.db"), bytes);

describe("the file beside a chat", () => {
  it("a chat's title and times are written beside it for other programs and lists, and read back", () => {
    const chat: ChatMetadata = {
      ...{ id, folder, title: "Mine", mode: "plan", createdAt: 1, updatedAt: 2, hasConversation: true },
      ...{ workspace: "/w", model: "m", prompt: "p", parent: "q" },
    };
    writeMetadata(chat);
    expect(JSON.parse(readFileSync(join(folder, "meta.json"), "utf8"))).toEqual({
      ...{ schemaVersion: 1, createdAtMs: 1, hasConversation: true, updatedAtMs: 2, cwd: "/w", title: "Mine" },
      isSubagent: true,
      courser: { title: "Mine", mode: "plan", model: "m", prompt: "p", parent: "q" },
    });
    expect(readMetadataFile(folder)).toEqual(chat);
    const bare: ChatMetadata = {
      ...{ id, folder, title: "New Agent", mode: "default" },
      createdAt: 1,
      updatedAt: 2,
      hasConversation: false,
    };
    writeMetadata({ ...bare, prompt: "asked first" });
    expect(JSON.parse(readFileSync(join(folder, "meta.json"), "utf8")).title).toBe("asked first");
    writeMetadata(bare);
    const text = readFileSync(join(folder, "meta.json"), "utf8");
    expect(["cwd", '"title":"p"', "isSubagent"].filter((each) => text.includes(each))).toEqual([]);
    expect(readMetadataFile(folder)).toEqual(bare);
  });

  it.each<[object | string, object | undefined]>([
    ["no JSON", undefined],
    ["[]", undefined],
    [{ createdAtMs: 1, updatedAtMs: 2 }, undefined],
    [{ createdAtMs: 1, courser: {} }, undefined],
    [{ updatedAtMs: 1, courser: {} }, undefined],
    [
      { createdAtMs: 1, updatedAtMs: 2, courser: {}, hasConversation: "yes" },
      { title: "New Agent", mode: "default", createdAt: 1, updatedAt: 2, hasConversation: false },
    ],
  ])("the file beside a chat with %j is read as: %j", (content, expected) => {
    meta(content);
    expect(readMetadataFile(folder)).toEqual(expected && { id, folder, ...expected });
  });

  it.each<[object | string, object]>([
    ["no JSON", { createdAt: 5000, updatedAt: 5000, hasConversation: true }],
    [{ updatedAtMs: 7 }, { createdAt: 7, updatedAt: 7, hasConversation: true }],
    [
      { updatedAtMs: 7, createdAtMs: 3, hasConversation: false },
      { createdAt: 3, updatedAt: 7, hasConversation: false },
    ],
    [
      { updatedAtMs: 7, createdAtMs: "3", isSubagent: true },
      { createdAt: 7, updatedAt: 7, hasConversation: true, isSubagent: true },
    ],
    [
      { createdAtMs: 3, isSubagent: "no" },
      { createdAt: 5000, updatedAt: 5000, hasConversation: true },
    ],
  ])("a chat with %j beside it is as old as %j", (content, age) => {
    store();
    meta(content);
    utimesSync(join(folder, "store.db"), 5, 5);
    expect(ageAtAGlance(folder)).toEqual({ folder, ...age });
  });

  it.each<[object, object | undefined]>([
    [
      { title: "Theirs", cwd: "/w", updatedAtMs: 7 },
      { title: "Theirs", workspace: "/w" },
    ],
    [
      { title: "Theirs", cwd: 7, isSubagent: true, updatedAtMs: 7 },
      { title: "Theirs", parent: "", isSubagent: true },
    ],
    [{ title: "", updatedAtMs: 7 }, undefined],
    [{ title: "New Agent", updatedAtMs: 7 }, undefined],
    [{ title: 7, updatedAtMs: 7 }, undefined],
  ])("a chat of another program with %j is listed as %j, or as one that cannot be read", (content, expected) => {
    store("no database");
    meta(content);
    const age = { folder, id, mode: "default", createdAt: 7, updatedAt: 7, hasConversation: true };
    expect(metadataAtAGlance(folder)).toEqual({ ...age, ...(expected ?? { title: "(this chat cannot be read)" }) });
    expect(listChats(configDir).map(({ title }) => title)).toEqual(
      expected && "parent" in expected ? [] : [(expected as { title?: string })?.title ?? "(this chat cannot be read)"],
    );
  });

  it("the list of chats is ordered by last change, then creation, then name", () => {
    const age = (name: string, updatedAt: number, createdAt: number) => ({
      folder: name,
      updatedAt,
      createdAt,
      hasConversation: true,
    });
    const all = [age("b", 1, 1), age("a", 1, 1), age("c", 1, 2), age("d", 2, 0)];
    expect(
      all
        .sort(newestFirst)
        .map((each) => each.folder)
        .join(""),
    ).toBe("dcab");
    expect(
      [...all]
        .reverse()
        .sort(newestFirst)
        .map((each) => each.folder)
        .join(""),
    ).toBe("dcab");
    expect(
      [{ title: "New Agent", prompt: "p" }, { title: "New Agent" }, { title: "T", prompt: "p" }].map((each) =>
        shownTitle(each as never),
      ),
    ).toEqual(["p", "New Agent", "T"]);
  });
});

describe("damage that is seen without reading a store", () => {
  const header = (pages: number, size: number) => {
    const bytes = Buffer.alloc(size);
    bytes.write("SQLite format 3\0");
    bytes.writeUInt16BE(512, 16);
    bytes.writeUInt32BE(pages, 28);
    return bytes;
  };

  it.each<[string, Buffer | string, string[], boolean]>([
    ["a whole file", header(2, 1024), [], false],
    ["one page too few", header(3, 1024), [], true],
    ["one page too few, with a log", header(3, 1024), ["store.db-wal"], false],
    ["another beginning", Buffer.alloc(1024), [], true],
    ["less than a header", header(0, 64).subarray(0, 31), [], true],
    ["a mark", header(2, 1024), ["store.db.damaged"], true],
  ])("%s", (_title, bytes, beside, isDamaged) => {
    store(bytes);
    for (const name of beside) writeFileSync(join(folder, name), "");
    expect(isDamagedAtAGlance(folder)).toBe(isDamaged);
  });

  it("a copy set aside as corrupt marks a chat as damaged until its store changes", () => {
    store(header(2, 1024));
    writeFileSync(join(folder, "store.db-wal"), "log");
    utimesSync(join(folder, "store.db"), 1_700_000_000, 1_700_000_000.5);
    expect([isDamagedAtAGlance(folder), isDamagedAtAGlance(join(folder, "none"))]).toEqual([false, false]);
    expect(copyAside(folder, "replaced")).toBe(join(folder, "store.db.replaced-20231114T221320Z"));
    expect(isDamagedAtAGlance(folder)).toBe(false);
    const copy = copyAside(folder, "corrupt");
    expect(copyAside(folder, "corrupt")).toBe(copy);
    expect(readFileSync(`${copy}-wal`, "utf8")).toBe("log");
    expect(isDamagedAtAGlance(folder)).toBe(true);
    utimesSync(join(folder, "store.db"), 1, 1);
    expect(isDamagedAtAGlance(folder)).toBe(false);
  });

  it("opening a missing chat, an empty one and a file in its place give different errors", () => {
    const failure = () => {
      try {
        checkStore(folder);
      } catch (error) {
        return error as { code: string; message: string };
      }
      return undefined;
    };
    expect(failure()).toMatchObject({ code: "SESSION_NOT_FOUND", message: expect.stringContaining(folder) });
    mkdirSync(join(folder, "store.db"));
    expect(failure()).toMatchObject({ code: "SESSION_NOT_FOUND" });
    rmSync(join(folder, "store.db"), { recursive: true });
    store();
    expect(failure()).toMatchObject({ code: "STORE_CORRUPT", message: expect.stringContaining("the file is empty") });
    store("x");
    expect(failure()).toBeUndefined();
  });

  it("a chat that cannot be read is either damaged or refused by the system, and only damaged ones are copied", () => {
    store("x");
    const sqlite = (errcode: number) => Object.assign(new Error("failed"), { errcode, errstr: "said so" });
    const damaged = storeFailure(sqlite(11), folder);
    expect(damaged).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(`The chat ${id} is damaged: said so.`),
    });
    expect(storeFailure(sqlite(1), folder).code).toBe("STORE_CORRUPT");
    expect(storeFailure(sqlite(5), folder).code).toBe("STORE_LOCKED");
    expect(storeFailure(damaged, folder)).toBe(damaged);
    const kept = keptAside(damaged, folder);
    expect(kept.message).toMatch(/A copy is kept as .*store\.db\.corrupt-\d{8}T\d{6}Z\.$/);
    expect(existsSync(/kept as (.*)\.$/.exec(kept.message)![1]!)).toBe(true);
    const locked = storeFailure(sqlite(5), folder);
    expect(keptAside(locked, folder)).toBe(locked);
    rmSync(folder, { recursive: true });
    expect(keptAside(damaged, folder)).toBe(damaged);
  });

  it.each([
    [0, "Start a new chat."],
    [1, `Continue from its first turn, which is complete, in a new chat: --resume ${id} --fork.`],
    [3, `Continue from its first 3 turns, which are complete, in a new chat: --resume ${id} --fork.`],
  ])("the message about a damaged chat with %d whole turns says how to go on", (turns, way) => {
    const error = notWhole(
      folder,
      [{ code: "STORE_CORRUPT", message: "One is gone." } as never, { message: "Two." } as never],
      turns,
    );
    expect(error.code).toBe("STORE_CORRUPT");
    expect(error.message).toContain(`nothing of it was sent to a model. One is gone. Two. ${way} See what is left:`);
  });
});

describe("transcripts", () => {
  const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
  const chat = () => ({ id, folder, workspace: "/w" }) as ChatMetadata;
  const file = () => join(projectDir(configDir, "/w"), "agent-transcripts", id, `${id}.jsonl`);
  const lines = () =>
    readFileSync(file(), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
  const text = (value: string) => [{ type: "text", text: value }];

  it("a chat's transcript has prompts with their time, answers and calls, and how turns ended", () => {
    const transcript = openTranscript(configDir, chat());
    transcript.add(user("go"), 0);
    transcript.add({ role: "assistant", parts: [{ type: "thinking", text: "hm" } as never] }, 1);
    transcript.add(
      {
        role: "assistant",
        parts: [
          { type: "text", text: "I do" },
          { type: "tool_call", id: "c", name: "Read", args: { path: "a" } },
        ],
      },
      1,
    );
    transcript.add(
      { role: "user", parts: [{ type: "tool_result", id: "c", text: "secret content", isError: false }] } as never,
      2,
    );
    transcript.endTurn("completed");
    transcript.close();
    expect(lines()).toEqual([
      {
        role: "user",
        message: {
          content: [
            { type: "text", text: expect.stringMatching(/^<timestamp>1970-01-01T00:00:00.000Z<\/timestamp>\n.*go/s) },
          ],
        },
      },
      {
        role: "assistant",
        message: { content: [...text("I do"), { type: "tool_use", name: "Read", input: { path: "a" } }] },
      },
      { type: "turn_ended", status: "completed" },
    ]);
    expect(readFileSync(join(projectDir(configDir, "/w"), "worker.log"), "utf8")).toBe("workspacePath=/w\n");
  });

  it("a chat's transcript is rewritten with known endings, and appended to afterwards", () => {
    const transcript = openTranscript(configDir, chat());
    transcript.add(user("lost"), 0);
    const stored = (message: Message, turn: number) => ({ message, turn, at: 0 }) as never;
    const answer: Message = { role: "assistant", parts: [{ type: "text", text: "yes" }] };
    transcript.rewrite(
      [stored(user("one"), 1), stored(answer, 1), stored(user("two"), 2)],
      new Map([[1, "completed"]]),
    );
    transcript.add(answer, 5);
    transcript.close();
    expect(lines().map((line) => JSON.stringify(line).replace(/<timestamp>.*?<\/timestamp>/, ""))).toEqual([
      expect.stringContaining("one"),
      expect.stringContaining("yes"),
      '{"type":"turn_ended","status":"completed"}',
      expect.stringContaining("two"),
      expect.stringContaining("yes"),
    ]);
    expect(readFileSync(join(projectDir(configDir, "/w"), "worker.log"), "utf8")).toBe("workspacePath=/w\n");
  });

  it("a chat works without its transcript if that cannot be written or has no workspace", () => {
    openTranscript(configDir, { id, folder } as ChatMetadata).add(user("x"), 0);
    writeFileSync(join(configDir, "projects"), "");
    const transcript = openTranscript(configDir, chat());
    transcript.add(user("x"), 0);
    rmSync(join(configDir, "projects"));
    transcript.add(user("x"), 0);
    transcript.endTurn("completed");
    transcript.close();
    expect(existsSync(join(configDir, "projects"))).toBe(false);
  });
});

describe("what a search shows", () => {
  /** ~ is a long text without a blank; what is shown of it is what fits. */
  const far = "x".repeat(300);
  const shown = (middle: string) => `… ${`${"x".repeat(39)} ${middle} ${far}`.slice(0, 160)} …`;
  it.each<[string, string[], string]>([
    ["short text", ["text"], "short text"],
    ["nothing of it", ["other"], "nothing of it"],
    ["~ one two ~", ["one", "two"], shown("one two")],
    ["one ~ one two end", ["one", "two"], `… ${"x".repeat(39)} one two end`],
    ["prefixone ~ one", ["one"], `… ${"x".repeat(39)} one`],
    ["prefixone ~", ["one"], `prefixone ${"x".repeat(150)} …`],
    ["~ a.b/c ~", ["a.b/c"], shown("a.b/c")],
    ["~ a-b c ~", ["a b"], shown("a-b c")],
    ["~ !? ~", ["!?"], shown("!?")],
    ["~ in few words before one two", ["one", "two"], "… in few words before one two"],
    ["line\n\tone", ["one"], "line one"],
    [`one ${"y".repeat(110)} two ~`, ["one", "two"], `one ${"y".repeat(110)} two ${"x".repeat(41)} …`],
  ])("a search snippet of %j shows the place with %j", (text, words, snippet) => {
    expect(snippetOf(text.replaceAll("~", far), words)).toBe(snippet);
  });

  it("chat search reads any text as words and phrases", () => {
    const shown = (text: string) =>
      termsIn(text).map(
        (term) => `${term.isPhrase ? "phrase" : "word"} ${term.text}${isWord(term) ? "" : ", no word"}`,
      );
    expect(shown('one "two three" four"five six')).toEqual([
      "word one",
      "phrase two three",
      "word four",
      "phrase five six",
    ]);
    expect(shown(' "" !? é 7')).toEqual(["phrase , no word", "word !?, no word", "word é", "word 7"]);
  });
});
