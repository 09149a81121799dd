// The exports that programs read, JSON and stream-json; and what all exports do with text of strangers.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { escapeHtml } from "../../src/export/escape-html.ts";
import { exportFormats } from "../../src/export/index.ts";
import type { AgentEvent, AgentEventBody } from "../../src/protocol/event.ts";
import type { ChatRecord } from "../../src/store/chats/chat.ts";
import { documentText } from "../../src/view/document-text.ts";
import { calls, chatId, type RecordTurn, recordOf, result, says, seeded, user } from "../sdk/chat-record.ts";
import { exported, hostileRecord } from "../sdk/hostile-chat.ts";
import { failedCommand, sampleCall, samples, states } from "../studio/sample-calls.ts";

describe("JSON exports", () => {
  it("a JSON export has metadata, turns and unified messages, without internal fields", async () => {
    const opaque = recordOf([
      {
        messages: [
          user("a"),
          {
            role: "assistant",
            parts: [
              { type: "thinking", text: "t", opaque: { from: "x", secret: 1 } },
              { type: "text", text: "b" },
            ],
          },
        ],
      },
    ]);
    const json = JSON.parse(await exported(opaque, "json"));
    expect(Object.keys(json)).toEqual(["session", "turns", "problems", "messages"]);
    expect(json.session).toMatchObject({
      id: chatId,
      title: "A title",
      workspace: "/project/space",
      model: "Some Model",
    });
    expect(json.session).not.toHaveProperty("folder");
    expect(json.turns).toMatchObject([{ number: 1, prompt: "a", status: "done" }]);
    expect(json.messages[1].content).toEqual([
      { type: "thinking", thinking: "t" },
      { type: "text", text: "b" },
    ]);
    expect(json.messages[0]).not.toHaveProperty("_original");
    expect(JSON.parse(await exported(recordOf([]), "json")).messages).toEqual([]);
  });

  it("a JSON export is valid for any chat", async () => {
    const below = seeded(9);
    for (let round = 0; round < 50; round++) {
      const record = hostileRecord(below);
      const json = JSON.parse(await exported(record, "json"));
      expect(json.messages[3].content).toEqual([{ type: "text", text: textIn(record, 3) }]);
    }
  });
});

function textIn(record: ChatRecord, index: number): string {
  const [part] = record.messages[index]!.message.parts;
  // What is half a character cannot be written as UTF-8, but JSON spells it out.
  return part?.type === "text" ? part.text : "";
}

describe("stream-json exports", () => {
  it("a stream-json export reports damage right after the first init line", async () => {
    const record = recordOf([{ messages: [user("a"), says("b")] }, { messages: [user("c"), says("d")] }], {
      problems: [{ code: "STORE_MISSING_BLOB", message: "1 blob is missing." }],
    });
    const lines = (await exported(record, "stream-json"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, subtype }) => [type, subtype].filter(Boolean).join("/"))).toEqual([
      "system/init",
      "system/damaged",
      "user",
      "assistant",
      "result/success",
      "system/init",
      "user",
      "assistant",
      "result/success",
    ]);
    expect(new Set(lines.map((line) => line.session_id))).toEqual(new Set([chatId]));
  });

  it("a stream-json export keeps lines of unknown types", async () => {
    const raw = { type: "brand_new", session_id: chatId, x: 1 };
    const events: AgentEvent[] = [
      { type: "user", text: "a" },
      { type: "other", raw },
      { type: "text_end", text: "b" },
      { type: "done", text: "b", durationMs: 1, apiDurationMs: 1 },
    ];
    const record = recordOf([{ messages: [user("a"), says("b")], events }]);
    expect(await exported(record, "stream-json")).toContain(`${JSON.stringify(raw)}\n`);
  });
});

describe("untrusted text in exports", () => {
  it("an export removes colours from untrusted text and shows hidden characters", () => {
    expect(documentText("\u001b[1;31mred\u001b[0m\u001b]8;;http://x\u0007link\u001b]8;;\u0007")).toBe("redlink");
    expect(documentText("a\u0000b\u202ec\u200bd\re\r\nf\tg")).toBe("a\\u0000b\\u202ec\\u200bd\ne\nf\tg");
    expect(escapeHtml(`<a href="x" title='y'>&`)).toBe("&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  });

  it("the export table has a row for every format", () =>
    expect(exportFormats).toEqual(["markdown", "json", "stream-json", "html", "atif"]));
});

/** A chat in which everything happens: every tool and outcome, questions, pictures, retries, and every way a turn can end. */
function fullChat(): ChatRecord {
  let at = 1_760_000_000_000;
  const timed = (events: readonly AgentEventBody[]): AgentEvent[] =>
    events.map((each) => ({ ...each, at: (at += 1000) }));
  const init: AgentEventBody = {
    ...{ type: "init", sessionId: chatId, cwd: "/project/space", model: "Some Model" },
    ...{ permissionMode: "default", apiKeySource: "env" },
  };
  const shown = Object.keys(samples).map((name) => sampleCall(name, "success"));
  const others = Object.keys(states)
    .filter((state) => state !== "running")
    .map((state) => sampleCall("GrepTool", state as keyof typeof states));
  const made = [...shown, ...others, failedCommand].flatMap(
    ({ callId, tool, args, outcome }, index): AgentEventBody[] => {
      const call = { callId: `${index}-${callId}`, tool, args };
      return [{ type: "tool_start", ...call }, ...(outcome ? [{ type: "tool_end" as const, ...call, outcome }] : [])];
    },
  );
  const usage = { inputTokens: 90, outputTokens: 20, cacheReadTokens: 5, cacheWriteTokens: 3, totalCost: 0.25 };
  const ending = { durationMs: 65_000, apiDurationMs: 4000, usage };
  const failed = (code: string | undefined, message: string): AgentEvent[] =>
    timed([
      { type: "user", text: `try ${code}` },
      { type: "fail", message, ...(code && { code }), durationMs: 0, apiDurationMs: 0 },
    ]);
  const turns: RecordTurn[] = [
    {
      messages: [
        {
          role: "user",
          parts: [
            { type: "text", text: "Do *all* of it\n\nplease" },
            { type: "image", mime: "image/png", base64: "iVBORw0KGgo=" },
          ],
        },
        says("All done."),
      ],
      events: timed([
        init,
        { type: "user", text: "Do *all* of it\n\nplease" },
        { type: "thinking_end", text: " How? " },
        { type: "text_end", text: "I begin." },
        ...made,
        { type: "retry", attempt: 1, discards: false, reason: "busy", delayMs: 500 },
        { type: "notice", kind: "compacted", message: "The conversation was *compacted*." },
        { type: "user", text: "Also the rest" },
        { type: "text_end", text: "All done.", cut: true },
        { type: "done", text: "All done.", ...ending },
      ]),
    },
    { messages: [user("try TERMINATED")], events: failed("TERMINATED", "Stopped by *SIGTERM*.") },
    { messages: [user("try INTERRUPTED")], events: failed("INTERRUPTED", "Stopped.") },
    { messages: [user("try undefined")], events: failed(undefined, "It broke.") },
    {
      messages: [user("and then")],
      events: timed([
        { type: "user", text: "and then" },
        { type: "text_end", text: "Half" },
      ]),
    },
    {
      messages: [user("another model"), says("Yes.")],
      events: timed([
        { ...init, model: "Other Model" },
        { type: "user", text: "another model" },
        { type: "text_end", text: "Yes." },
      ]),
    },
    { messages: [user("without events"), calls("Read", { path: "a" }, "c9"), result("A", "c9"), says("Read.")] },
  ];
  return recordOf(turns, { problems: [{ code: "STORE_MISSING_BLOB", message: "1 blob is <missing>." }] });
}

/** The style is left out, and each element begins a line. */
const pageText = (page: string) =>
  page.replace(/<style>[^<]*<\/style>|style-src 'sha256-[^']*'/g, "").replace(/(?<!^)</gm, "\n<");

it.each(exportFormats)("the export of a chat in which everything happens, as %s", async (format) => {
  const text = await exported(fullChat(), format);
  await expect(format === "html" ? pageText(text) : text).toMatchFileSnapshot(
    join(import.meta.dirname, `full-chat.${format === "markdown" ? "md" : `${format}.txt`}`),
  );
});

/** What can be missing is missing, numbers are at their edges, and pictures are everywhere. */
function oddChat(): ChatRecord {
  const picture = (mime: string) => ({ mime, base64: "iVBORw0KGgo=" });
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const shot = { callId: "c1", tool: "mcp", args: { name: "shot", args: {} } };
  const [at, long] = [1_760_000_100_000, "x".repeat(121)];
  const record = recordOf(
    [
      {
        messages: [
          {
            role: "user",
            parts: [
              { type: "image", ...picture("image/png") },
              { type: "image", ...picture("image/tiff") },
            ],
          },
          calls("Shot", {}, "c1"),
          {
            role: "user",
            parts: [
              { type: "tool_result", id: "c1", text: "seen", images: [picture("image/png")], isError: false },
              { type: "tool_result", id: "lost", text: "of no call", isError: true },
            ],
          },
          calls("Odd", "only text", "c2"),
          result("no", "c2", true),
        ],
        events: [
          { type: "text_end", text: "before any prompt" },
          { type: "tool_start", ...shot, at },
          { type: "tool_end", ...shot, outcome: { kind: "success", value: {} }, at: at + 1 },
          { type: "user", text: "aside", at: at + 2 },
          { type: "done", text: "", durationMs: 0, apiDurationMs: 0, usage },
        ],
      },
      {
        messages: [user("only one kind of token"), says("b")],
        events: [
          { type: "user", text: "only one kind of token" },
          { type: "notice", kind: "compacted", message: "At once." },
          { type: "text_end", text: `\n\n${long}\n` },
          {
            type: "done",
            text: "",
            durationMs: 1,
            apiDurationMs: 1,
            usage: { ...usage, outputTokens: 1 },
            costUsd: 0.5,
          },
        ],
      },
      {
        messages: [user(long), says("c")],
        events: [
          { type: "user", text: long },
          { type: "tool_start", callId: "c3", tool: "shell", args: { command: `${long}\nsecond` } },
          { type: "fail", message: "late", code: "INTERRUPTED", durationMs: 2, apiDurationMs: 0, at: at + 9 },
        ],
      },
      { messages: [user("twice"), says("d")], events: [{ type: "user", text: "twice" }] },
      { messages: [says("e")], events: [{ type: "text_end", text: "without a prompt" }] },
    ],
    { title: "New Agent", problems: [] },
  );
  const { workspace: _, model: __, ...metadata } = record.metadata;
  const turns = record.turns.map((turn) => ({ ...turn, startedAt: turn.number === 4 ? 0 : turn.startedAt }));
  return { ...record, metadata: { ...metadata, workspace: "" }, turns };
}

it.each(exportFormats)("the export of a chat that lacks whatever it can lack, as %s", async (format) => {
  const text = await exported(oddChat(), format);
  await expect(format === "html" ? pageText(text) : text).toMatchFileSnapshot(
    join(import.meta.dirname, `odd-chat.${format === "markdown" ? "md" : `${format}.txt`}`),
  );
});

it("an export reports a chat's damage once, after its first beginning, and keeps the chat's id", async () => {
  const init = (sessionId: string): AgentEvent => ({
    ...{ type: "init", sessionId, cwd: "/", model: "M", permissionMode: "default", apiKeySource: "env" },
  });
  const record = recordOf(
    [
      { messages: [user("a")], events: [init("original"), { type: "user", text: "a" }] },
      { messages: [user("b")], events: [init("original"), { type: "user", text: "b" }] },
    ],
    {
      problems: [
        { code: "STORE_MISSING_BLOB", message: "one" },
        { code: "STORE_MISSING_BLOB", message: "two" },
      ],
    },
  );
  const lines = (await exported(record, "stream-json"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(
    lines.map(({ type, subtype, message }) => subtype ?? (type === "user" ? message.content[0].text : type)),
  ).toEqual(expect.arrayContaining(["init", "damaged", "damaged", "a", "init", "b"]));
  expect(lines.slice(0, 3).map(({ subtype, session_id }) => [subtype, session_id])).toEqual([
    ["init", chatId],
    ["damaged", chatId],
    ["damaged", chatId],
  ]);
  expect(lines.filter(({ subtype }) => subtype === "damaged")).toHaveLength(2);
});
