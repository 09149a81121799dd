// What becomes of each frame: events exactly as the contract has them, and what is not forwarded.
import { describe, expect, test } from "vitest";
import { FrameReader, type ReadFrame } from "../../src/adapter/frame-reader.ts";
import { RepeatedText } from "../../src/adapter/repeated-text.ts";
import { FrameParser } from "../../src/protocol/frames.ts";
import { type KnownTool, toolTable } from "../../src/protocol/turn-contract.ts";
import { streams, valuesOf } from "../streams/index.ts";
import { adapterOf, model, note, tell } from "./support.ts";

function readAll(lines: readonly object[], tools: readonly KnownTool[] = []): ReadFrame[] {
  const parser = new FrameParser({ tools });
  const frames = parser.push(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
  if (parser.error) throw parser.error;
  const reader = new FrameReader(toolTable(tools));
  return frames.map((frame) => reader.read(frame));
}

const eventsOf = (lines: readonly object[], tools: readonly KnownTool[] = []) =>
  readAll(lines, tools).flatMap(({ events }) => events);
const newTextOf = (lines: readonly object[]) =>
  readAll(lines)
    .map(({ newText }) => newText)
    .join("");

const said = (text: string, more: object = {}) => ({
  type: "assistant",
  message: { role: "assistant", content: [{ type: "text", text }] },
  session_id: "s1",
  ...more,
});
const result = (more: object = {}) => ({
  type: "result",
  subtype: "success",
  duration_ms: 1,
  is_error: false,
  result: "",
  session_id: "s1",
  ...more,
});

describe("events of the adapter contract", () => {
  test.each([
    { type: "assistant_delta", data: { content: "partial text" } },
    { type: "tool_call", data: { name: "exec", args: { command: "pwd" } } },
    { type: "usage", data: { promptTokens: 123, completionTokens: 456 } },
    { type: "error", data: { code: "MODEL_AUTH_ERROR", message: "token expired" } },
    { type: "done", data: { finishReason: "stop" } },
  ])("the adapter forwards the frame $type unchanged", (event) => {
    expect(eventsOf([event], ["exec"])).toEqual([event]);
  });

  test("the adapter drops fields of a frame that its contract does not have", () => {
    const padded = { type: "done", data: { finishReason: "stop", secret: 1 }, more: 2 };
    expect(eventsOf([padded])).toEqual([{ type: "done", data: { finishReason: "stop" } }]);
  });
});

describe("stream-json lines in the adapter", () => {
  test("the adapter does not forward protocol, system, user, thinking, interaction_query, connection and retry frames", () => {
    const message = { role: "user", content: [{ type: "text", text: "hi" }] };
    const ignored = [
      { type: "protocol", data: { version: "1.0" } },
      { type: "system", subtype: "init", session_id: "s1" },
      { type: "user", message, session_id: "s1" },
      { type: "thinking", subtype: "delta", text: "hm", session_id: "s1" },
      { type: "thinking", subtype: "completed", session_id: "s1" },
      { type: "interaction_query", subtype: "request", query_type: "webFetchRequestQuery", query: { id: 0 } },
      { type: "connection", subtype: "reconnecting", attempt: 1 },
      { type: "retry", subtype: "starting", attempt: 1, is_resume: false },
      { type: "telemetry", data: {} },
    ];
    expect(eventsOf(ignored)).toEqual([]);
  });

  test("the adapter forwards assistant lines in full, even if they repeat deltas", () => {
    const lines = [said("Hel", { timestamp_ms: 1 }), said("lo", { timestamp_ms: 2 }), said("Hello")];
    expect(eventsOf(lines).map(({ data }) => data)).toEqual([
      { content: "Hel" },
      { content: "lo" },
      { content: "Hello" },
    ]);
    expect(newTextOf(lines)).toBe("Hello");
  });

  test("the adapter emits no event for an assistant line without text", () => {
    expect(eventsOf([said("")])).toEqual([]);
  });

  test("the adapter turns a result line into usage and done", () => {
    const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 10, cacheWriteTokens: 1 };
    expect(eventsOf([result({ usage })])).toEqual([
      { type: "usage", data: { promptTokens: 16, completionTokens: 2 } },
      { type: "done", data: { finishReason: "stop" } },
    ]);
    expect(eventsOf([result()])).toEqual([{ type: "done", data: { finishReason: "stop" } }]);
  });

  test("the adapter turns an error result into an error event, classified by its code or message", () => {
    const failed = (text: string, more: object = {}) =>
      eventsOf([result({ subtype: "error", is_error: true, result: text, ...more })]);
    expect(failed("Error: Not authenticated", { error_code: "NOT_AUTHENTICATED" })).toEqual([
      { type: "error", data: { code: "NOT_AUTHENTICATED", message: "Not authenticated" } },
    ]);
    expect(failed("Error: API key invalid")).toMatchObject([{ data: { code: "MODEL_AUTH_ERROR" } }]);
    expect(failed("429 Too Many Requests")).toMatchObject([{ data: { code: "MODEL_RATE_LIMIT" } }]);
    expect(failed("")).toMatchObject([{ data: { code: "CLI_FAILED", message: expect.stringMatching(/\S/) } }]);
  });
});

describe("tool calls in the adapter", () => {
  const tools = ["web_fetch", "mcp_web_fetch", "web_search", "mcp_web_search", note];
  const nested = (tool_call: object, more: object = {}) => ({ type: "tool_call", tool_call, ...more });
  const url = "https://example.com/";

  test.each([
    ["arguments", { name: "web_fetch", arguments: { url } }],
    ["args", { name: "web_fetch", args: { url } }],
    ["arguments as a string", { name: "web_fetch", arguments: JSON.stringify({ url }) }],
    ["args as a string", { name: "web_fetch", args: JSON.stringify({ url }) }],
    ["function", { function: { name: "web_fetch", arguments: JSON.stringify({ url }) } }],
  ])("the adapter reads nested tool calls of a CLI's stream, with %s", (_name, call) => {
    const event = { type: "tool_call", data: { name: "web_fetch", args: { url } } };
    expect(eventsOf([nested(call)], tools)).toEqual([event]);
    expect(eventsOf([nested(call, { subtype: "started", call_id: "c1" })], tools)).toEqual([event]);
    // What is completed has been run by the CLI itself.
    expect(eventsOf([nested(call, { subtype: "completed", call_id: "c1" })], tools)).toEqual([]);
  });

  test.each(["web_fetch", "mcp_web_fetch", "web_search", "mcp_web_search"])(
    "the adapter recognises a frame of tool calls by its schema: %s",
    (name) => {
      const good = name.endsWith("fetch") ? { url } : { query: "search terms" };
      expect(eventsOf([nested({ name, args: good })], tools)).toHaveLength(1);
      expect(readAll([nested({ name, args: {} })], tools)[0]!.fault?.code).toBe("TOOL_ARGUMENTS");
      expect(() => eventsOf([{ type: "tool_call", data: { name, args: {} } }], tools)).toThrow();
    },
  );

  test("the adapter runs no tool for arguments that are not a JSON object", () => {
    for (const args of ["{", "[1]", "null", 7, [1]])
      expect(readAll([nested({ name: "note", args })], tools)[0]).toMatchObject({
        events: [],
        fault: { code: "TOOL_ARGUMENTS" },
      });
  });

  test("the adapter does not forward tool calls that the CLI ran itself, but remembers them", () => {
    const shell = nested({ shellToolCall: { args: { command: "ls" } } }, { subtype: "started", call_id: "c1" });
    const foreign = nested({ name: "edit_file", args: {} });
    expect(readAll([shell, foreign], tools)).toMatchObject([
      { events: [], ownTool: "shell" },
      { events: [], ownTool: "edit_file" },
    ]);
  });

  test("the adapter refuses a call of an unknown tool before anything runs", () => {
    expect(() => eventsOf([{ type: "tool_call", data: { name: "rm_rf", args: {} } }], tools)).toThrow(/no tool named/);
    expect(() => eventsOf([{ type: "tool_call", data: { name: "constructor", args: {} } }], tools)).toThrow();
    expect(() => eventsOf([{ type: "tool_call", data: { name: "__proto__", args: {} } }], tools)).toThrow();
  });
});

describe("text is forwarded exactly once", () => {
  test("the adapter forwards all text deltas, even identical ones", () => {
    const lines = [1, 2, 3].map((at) => said("ha", { timestamp_ms: at }));
    expect(newTextOf([...lines, said("hahaha")])).toBe("hahaha");
  });

  test("without deltas the adapter forwards each whole text; one just before a tool call repeats only recent text", () => {
    expect(newTextOf([said("one ", { timestamp_ms: 1, model_call_id: "m" }), said("two")])).toBe("one two");
    const call = {
      type: "tool_call",
      subtype: "started",
      call_id: "c",
      tool_call: { readToolCall: { args: {} } },
      session_id: "s1",
    };
    const lines = [
      said("a", { timestamp_ms: 1 }),
      said("a", { timestamp_ms: 2, model_call_id: "m" }),
      call,
      said("b", { timestamp_ms: 3 }),
      said("b"),
    ];
    expect(newTextOf(lines)).toBe("ab");
  });

  test("the adapter counts text deltas followed by the whole assistant line as one text", () => {
    expect(newTextOf([{ type: "assistant_delta", data: { content: "Hi" } }, said("Hi")])).toBe("Hi");
  });

  const delta = (content: string) => ({ type: "assistant_delta", data: { content } });
  const call = {
    type: "tool_call",
    subtype: "started",
    call_id: "c",
    tool_call: { readToolCall: { args: {} } },
    session_id: "s1",
  };
  const at = (text: string, timestamp_ms: number) => said(text, { timestamp_ms });
  const flushed = (text: string) => said(text, { timestamp_ms: 9, model_call_id: "m" });
  test.each([
    ["deltas of the contract, then whole", [delta("a "), delta("b"), said("a b"), result({ result: "a b" })]],
    ["deltas of the stream, then whole", [at("a ", 1), at("b", 2), said("a b")]],
    ["pieces without a time, then whole", [said("a "), said("b"), said("a b")]],
    [
      "a text before a call and one after it, then both",
      [at("a ", 1), flushed("a "), call, at("b", 3), said("b"), said("a b")],
    ],
    ["whole texts, then all of them", [flushed("a "), call, said("b"), said("a b")]],
    ["both kinds of deltas, in step", [at("a ", 1), delta("a "), at("b", 2), delta("b"), said("a b")]],
  ])("the adapter forwards text exactly once: %s", (_shape, lines) => expect(newTextOf(lines)).toBe("a b"));

  test("the adapter forwards usage and calls once if a CLI reports them in two formats; a call made twice, twice", () => {
    const usage = { type: "usage", data: { promptTokens: 5, completionTokens: 2 } };
    const told = eventsOf([usage, result({ usage: { inputTokens: 5, outputTokens: 2 } })]);
    expect(told).toEqual([usage, { type: "done", data: { finishReason: "stop" } }]);
    const contract = { type: "tool_call", data: { name: "note", args: { text: "a" } } };
    const nested = { type: "tool_call", tool_call: { name: "note", arguments: '{"text":"a"}' } };
    const named = { ...nested, subtype: "started", call_id: "c1" };
    expect(eventsOf([contract, nested], [note])).toEqual([contract]);
    expect(eventsOf([nested, contract], [note])).toEqual([contract]);
    expect(eventsOf([named, named], [note])).toEqual([contract]);
    expect(eventsOf([contract, contract], [note])).toEqual([contract, contract]);
    expect(eventsOf([contract, nested, nested], [note])).toEqual([contract, contract]);
  });

  test("the adapter forwards text once if the CLI repeats it after a retry", () => {
    const retry = { type: "retry", subtype: "starting", attempt: 1, is_resume: true, session_id: "s1" };
    const again = [said("Hel", { timestamp_ms: 1 }), retry, said("Hello", { timestamp_ms: 2 }), said("Hello")];
    expect(newTextOf(again)).toBe("Hello");
  });

  test("the adapter takes the answer from the result line if the CLI sends no other text", () => {
    expect(newTextOf([result({ result: "the answer" })])).toBe("the answer");
    expect(newTextOf([said("the answer"), result({ result: "the answer" })])).toBe("the answer");
  });

  test("the adapter removes repeated text from a stream however the text is split or cut off", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: 1 + random(12) }, () => "ab \n"[random(4)]).join("");
      const said = text.slice(0, random(text.length + 1));
      const retelling = new RepeatedText(said);
      let heard = said;
      for (let at = 0; at < text.length; ) {
        const size = 1 + random(4);
        heard += retelling.next(text.slice(at, at + size));
        at += size;
      }
      expect(heard).toBe(text);
      // Another text comes whole.
      const other = `${said.slice(0, random(said.length + 1))}X`;
      const parted = new RepeatedText(said);
      if (said === "" || !other.startsWith(said))
        expect(said + [...other].map((piece) => parted.next(piece)).join("")).toMatch(/X$/);
    }
  });

  test.each(streams.map((stream) => [stream.name, stream] as const))(
    "the text that the adapter forwards from the stream %s equals the stream's result",
    (_, stream) => {
      const values = valuesOf(stream);
      const last = values.findLast(({ type }) => type === "result");
      if (last?.["is_error"] === false) expect(newTextOf(values)).toBe(last["result"]);
      // Without an answer, what was said until then.
      else expect(newTextOf(values)).toBe(last ? "I try." : "I ligh");
    },
  );
});

test("sendTurn forwards every frame, and repeats nothing when only new text is wanted", async () => {
  const full = await tell(adapterOf({ a: model("partial") }));
  expect(full.text).toBe("Hello worldHello world");
  expect(full.types).toEqual(["assistant_delta", "assistant_delta", "assistant_delta", "usage", "done"]);
  const once = await tell(adapterOf({ a: model("partial") }), { text: "new" });
  expect(once.text).toBe("Hello world");
  expect(once.turn.attempts[0]!.text).toBe("Hello world");
});

test("the adapter writes every frame to the debug channel, and every step to the log", async () => {
  const log: string[] = [];
  const debug: string[] = [];
  const models = { a: model("crash", { fallbackModels: ["b"] }), b: model("partial") };
  await tell(adapterOf(models, { log: (line) => log.push(line), debug: (line) => debug.push(line) }), { turnId: "t7" });
  const types = debug.map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(["system", "user", "thinking", "assistant", "assistant", "assistant", "result"]);
  expect(log).toEqual([
    expect.stringMatching(/^turn t7: asking a \(profile default\): .*cli\.sh$/),
    expect.stringMatching(/^turn t7: a \(profile default\) failed: .*boom.* \[CLI_EXIT\] after \d+ ms$/),
    "turn t7: falling back to b (profile default)",
    expect.stringMatching(/^turn t7: asking b \(profile default\): /),
    expect.stringMatching(/^turn t7: b \(profile default\) answered after \d+ ms$/),
  ]);
});

test("the adapter's log, debug channel and errors contain no secrets of the profile, by format or by name", async () => {
  const texts: string[] = [];
  const keep = (line: string) => texts.push(line);
  const token = `ghp_${"Q7w3E9r1T5y8U2i6O0p4A1sQ7w3E9r1T5y8U"}`;
  const script = `echo '{"type":"assistant_delta","data":{"content":"${token} correct-horse-battery"}}'; echo "DB_PASSWORD=Q7w3E9r1T5y8 ${token} correct-horse-battery" >&2; exit 1`;
  const adapter = adapterOf(
    { a: model("", { command: "bash", args: ["-c", script], authProfiles: ["p"] }) },
    { log: keep, debug: keep, profiles: { p: { env: { ODD_NAME: "correct-horse-battery", PLACE: "/usr/share" } } } },
  );
  const { last, text, turn } = await tell(adapter);
  const plain: string[] = [];
  const env = { COURSER_MODEL: "claude-4.5-sonnet", NOTE: "offline", CONFIG: "/home/user/config" };
  const words = `echo 'the offline model claude-4.5-sonnet of /home/user/config' >&2; exit 1`;
  const harmless = adapterOf(
    { a: model("", { command: "bash", args: ["-c", words], authProfiles: ["p"] }) },
    { log: (line) => plain.push(line), profiles: { p: { env } } },
  );
  await tell(harmless);
  expect(plain.join("\n")).toContain("the offline model claude-4.5-sonnet of /home/user/config");
  // What the model says is the caller's own.
  expect(text).toContain(token);
  const told = [...texts, JSON.stringify(last), JSON.stringify({ ...turn.attempts[0], text: "" })].join("\n");
  expect(told).toContain("[redacted]");
  for (const secret of [token, "correct-horse-battery", "Q7w3E9r1T5y8"]) expect(told).not.toContain(secret);
});
