// Damaged session files: what can be read is read, what cannot is refused in words.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { readerOf } from "../../src/sdk/sessions/index.ts";
import { messagesOf } from "../../src/sdk/unified.ts";
import { seeded } from "./chat-record.ts";
import { lines, losses, sessionFiles, texts } from "./session-files.ts";

const files = sessionFiles();
afterAll(() => files.remove());

describe("damaged sessions", () => {
  it("sessions with calls without results, or results without calls, are read", () => {
    const base = { parentUuid: null, isSidechain: false, sessionId: "s", timestamp: "2026-01-01T00:00:00Z" };
    const session = files.read(
      lines([
        { ...base, type: "user", uuid: "1", message: { content: "go" } },
        {
          ...base,
          parentUuid: "1",
          type: "user",
          uuid: "2",
          message: { content: [{ type: "tool_result", tool_use_id: "never", content: "x" }] },
        },
        {
          ...base,
          parentUuid: "2",
          type: "assistant",
          uuid: "3",
          message: { id: "m", content: [{ type: "tool_use", id: "cut", name: "Bash", input: {} }] },
        },
      ]),
    );
    expect(texts(session)).toEqual(["u: go", "a: Bash()"]);
    expect(losses(session)).toEqual({ orphan_result: 1, open_call: 1 });
  });

  it("files of other kinds are not taken for sessions", () => {
    for (const content of ["", "\n\n", "no json", '{"a":1}', "[]", "[1,2]", "null", '"text"', "\ufeff{}"]) {
      expect(readerOf(files.write(content))).toBeUndefined();
    }
    expect(() => readerOf(join(files.folder, "absent"))).toThrow(UserError);
    expect(() => readerOf(files.folder)).toThrow(/it is not a file/);
  });

  it("byte order marks, CRLF, missing line ends and split characters are handled", () => {
    const base = { isSidechain: false, sessionId: "s", timestamp: "2026-01-01T00:00:00Z" };
    const long = "ä€😀".repeat(200_000);
    const content = [
      { ...base, parentUuid: null, type: "user", uuid: "1", message: { content: long } },
      {
        ...base,
        parentUuid: "1",
        type: "assistant",
        uuid: "2",
        message: { id: "m", content: [{ type: "text", text: "ok" }] },
      },
    ];
    const session = files.read(`\ufeff${content.map((value) => JSON.stringify(value)).join("\r\n")}`);
    expect(session.messages.map(({ content }) => content[0])).toEqual([
      { type: "text", text: long },
      { type: "text", text: "ok" },
    ]);
  });

  it("a damaged session is read, or refused with an explanation", () => {
    const recordings = join(import.meta.dirname, "../recordings/sessions");
    const names = [
      "claude/c60a81f7-6814-4292-bfb1-b2ab1c2a684a.jsonl",
      "claude/6f61cca6-927c-4767-8f3f-233764704efb.jsonl",
      "codex/rollout-2026-11-16T03-45-56-01a1e276-27c1-7f52-ab39-1d98df314be4.jsonl",
      "gemini/chats/session-2026-11-16T03-46-9f9bcdb1.jsonl",
    ];
    const below = seeded(7);
    const odd: unknown[] = [null, 0, -1, "", "x", [], {}, [[]], { type: 1 }, true, ["a", null]];
    for (let round = 0; round < 240; round++) {
      const original = readFileSync(join(recordings, names[round % names.length]!), "utf8")
        .split("\n")
        .filter(Boolean);
      const values = original.map((line) => JSON.parse(line) as unknown);
      for (let change = 0; change < 1 + below(6); change++) {
        const at = below(values.length);
        const kind = below(4);
        if (kind === 0) values.splice(at, 1);
        else if (kind === 1) [values[at], values[0]] = [values[0], values[at]];
        else spoil(values[at], odd[below(odd.length)], below);
      }
      const file = files.write(lines(values), "fuzz.jsonl");
      const session = readerOf(file)?.read(file);
      if (!session) continue;
      for (const message of messagesOf(session.messages)) {
        for (const part of message.parts) {
          if (part.type === "text" || part.type === "thinking") expect(typeof part.text).toBe("string");
          if (part.type === "tool_result") expect([typeof part.text, typeof part.id]).toEqual(["string", "string"]);
        }
      }
      expect(typeof session.title).toBe("string");
      expect(Number.isFinite(session.createdAt) && Number.isFinite(session.updatedAt)).toBe(true);
    }
  });
});

/** Puts something else in one place inside a value. */
function spoil(value: unknown, instead: unknown, below: (count: number) => number): void {
  if (typeof value !== "object" || value === null) return;
  const keys = Object.keys(value);
  if (keys.length === 0) return;
  const key = keys[below(keys.length)]!;
  const inside = (value as Record<string, unknown>)[key];
  if (typeof inside === "object" && inside !== null && below(3) > 0) spoil(inside, instead, below);
  else (value as Record<string, unknown>)[key] = instead;
}
