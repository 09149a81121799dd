// The stream-json codec: nothing is lost in either direction, in any order of keys, and text is said once.
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { kinds as lineKinds } from "../../src/protocol/line-kinds.ts";
import { createDecoder, decodeLine, derived, type EncodeOptions, encodeEvent } from "../../src/protocol/stream-json.ts";
import { outcomeKinds } from "../../src/protocol/tool-calls.ts";
import { streams, valuesOf } from "../streams/index.ts";
import { disturb, random } from "./random.ts";

const sessionOf = (line: any): string => (typeof line?.session_id === "string" ? line.session_id : "");
const again = (line: unknown) => JSON.stringify(encodeEvent(decodeLine(line), sessionOf(line), { partial: true }));
const named = streams.map((stream) => [stream.name, stream] as const);

describe("streams in the original's formats", () => {
  test.each(named)("%s: every line is encoded again byte for byte", (_, { lines }) => {
    for (const line of lines) expect(again(JSON.parse(line))).toBe(line);
  });

  test.each(named)("%s: decoded lines stored as JSON without their text encode to the same lines", (_, { lines }) => {
    for (const line of lines) {
      const event = decodeLine(JSON.parse(line));
      const stored = JSON.stringify(event);
      if (event.type !== "other") expect(stored).not.toContain(line);
      expect(stored).not.toContain(JSON.stringify(line).slice(1, -1));
      expect(JSON.stringify(encodeEvent(JSON.parse(stored), sessionOf(JSON.parse(line)), { partial: true }))).toBe(
        line,
      );
    }
  });

  test("only lines of unknown types decode to unknown events", () => {
    const events = streams.flatMap(valuesOf).map((line) => decodeLine(line));
    const unknown = events.flatMap((event) => (event.type === "other" ? [event.raw as Record<string, unknown>] : []));
    expect([...new Set(unknown.map((line) => `${line["type"]}/${line["subtype"]}`))].sort()).toEqual([
      "connection/reconnected",
      "connection/reconnecting",
      "retry/resuming",
      "telemetry/undefined",
      "tool_call/progress",
    ]);
    // They hold a line of every kind but live output, which is our own, and every outcome.
    const held = new Set<string>([...events.map((event) => event.type), "tool_output"]);
    expect(Object.keys(lineKinds).filter((kind) => !held.has(kind))).toEqual([]);
    const outcomes = new Set(events.map((event) => event.type === "tool_end" && event.outcome?.kind));
    expect(outcomeKinds.filter((kind) => !outcomes.has(kind))).toEqual([]);
  });

  test.each(named)("%s: every started call ends under its id and name, unless the stream is cut", (_, stream) => {
    const events = valuesOf(stream).map((line) => decodeLine(line));
    const calls = (type: AgentEvent["type"]) =>
      events.flatMap((event) =>
        event.type === type && "callId" in event && "tool" in event ? [`${event.callId} ${event.tool}`] : [],
      );
    if (stream.rest === "") expect(calls("tool_end").sort()).toEqual(calls("tool_start").sort());
    else expect([calls("tool_start"), calls("tool_end")]).toEqual([["tool_late shell"], ["tool_early task"]]);
  });

  test.each(named)("%s: the kept text equals the result", (_, stream) => {
    const decode = createDecoder();
    const events = valuesOf(stream).flatMap((line) => decode(line));
    const end = events.at(-1)!;
    if (end.type === "done") expectSaid(events, end.text);
    // One ends with an error, one does not end.
    else
      expect([end.type, stream.rest === ""]).toEqual(stream.name === "error" ? ["fail", true] : ["tool_start", false]);
  });

  test("stream lines with keys in any order, extra or missing keys and any value types are encoded again unchanged", () => {
    const lines = streams.flatMap(valuesOf);
    const dice = random(7);
    for (let round = 0; round < 4000; round++) {
      const line = disturb(structuredClone(dice.pick(lines)), dice);
      expect(again(line)).toBe(JSON.stringify(line));
    }
  });
});

/** Whoever listens to deltas, to whole segments, or to the end hears the same. */
function expectSaid(events: AgentEvent[], said: string): void {
  let kept = "";
  let open = "";
  let segments = "";
  for (const event of events) {
    if (event.type === "text") open += event.text;
    if (event.type === "retry" && event.discards) open = "";
    if (event.type !== "text_end") continue;
    segments += event.text;
    kept += open;
    open = "";
  }
  expect([kept, segments, open]).toEqual([said, said, ""]);
}

const session = "0c79b9f5-d4a6-433b-ab10-2212d47390af";
const encode = (event: AgentEvent, options: EncodeOptions = {}) => JSON.stringify(encodeEvent(event, session, options));

describe("our own stream lines", () => {
  const init: AgentEvent = {
    type: "init",
    sessionId: session,
    cwd: "/w",
    model: "M",
    permissionMode: "default",
    apiKeySource: "login",
  };
  const ending = { durationMs: 5, apiDurationMs: 4, requestId: "r" };
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
  const start: AgentEvent = {
    type: "tool_start",
    callId: "c",
    tool: "read",
    args: { path: "a" },
    modelCallId: "m",
    startedAt: 7,
    at: 8,
  };
  const end: AgentEvent = {
    type: "tool_end",
    callId: "c",
    tool: "shell",
    args: { command: "x" },
    outcome: { kind: "failure", value: { exitCode: 1 }, siblings: { isBackground: false } },
    startedAt: 7,
    completedAt: 9,
    at: 10,
  };
  const id = `"session_id":"${session}"`;

  test.each<[string, AgentEvent, EncodeOptions, string | undefined]>([
    [
      "init",
      init,
      {},
      `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w",${id},"model":"M","permissionMode":"default"}`,
    ],
    [
      "init with tools",
      { ...init, tools: ["Read"], mcpServers: [{ name: "a", status: "ready" }] },
      {},
      `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w",${id},"model":"M","permissionMode":"default","tools":["Read"],"mcp_servers":[{"name":"a","status":"ready"}]}`,
    ],
    [
      "user",
      { type: "user", text: "hi", at: 3 },
      {},
      `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]},${id}}`,
    ],
    [
      "a delta with partial output",
      { type: "text", text: "a", at: 3 },
      { partial: true },
      `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]},${id},"timestamp_ms":3}`,
    ],
    ["a delta without", { type: "text", text: "a", at: 3 }, {}, undefined],
    [
      "the flush before a call",
      { type: "text_end", text: "a", modelCallId: "m", at: 3 },
      {},
      `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]},${id},"model_call_id":"m","timestamp_ms":3}`,
    ],
    [
      "the flush before a call, 2025: never a time",
      { type: "text_end", text: "a", modelCallId: "m", at: 3 },
      { compat: "2025" },
      `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]},${id},"model_call_id":"m"}`,
    ],
    [
      "the last flush: neither",
      { type: "text_end", text: "a", at: 3 },
      { partial: true },
      `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]},${id}}`,
    ],
    [
      "thinking",
      { type: "thinking", text: "t", at: 3 },
      {},
      `{"type":"thinking","subtype":"delta","text":"t",${id},"timestamp_ms":3}`,
    ],
    [
      "the end of thinking",
      { type: "thinking_end", at: 3 },
      {},
      `{"type":"thinking","subtype":"completed",${id},"timestamp_ms":3}`,
    ],
    [
      "a call",
      start,
      {},
      `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"7"},"model_call_id":"m",${id},"timestamp_ms":8}`,
    ],
    [
      "a call, 2025",
      start,
      { compat: "2025" },
      `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"}}},"model_call_id":"m",${id},"timestamp_ms":8}`,
    ],
    [
      "its end",
      end,
      {},
      `{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"x"},"result":{"failure":{"exitCode":1},"isBackground":false}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"7","completedAtMs":"9"},${id},"timestamp_ms":10}`,
    ],
    [
      "its end, 2025",
      end,
      { compat: "2025" },
      `{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"x"},"result":{"failure":{"exitCode":1},"isBackground":false}}},${id},"timestamp_ms":10}`,
    ],
    ["live output", { type: "tool_output", callId: "c", chunk: "x" }, {}, undefined],
    [
      "a question",
      { type: "ask", id: 0, kind: "webFetchRequestQuery", query: { args: {} } },
      {},
      `{"type":"interaction_query","subtype":"request","query_type":"webFetchRequestQuery","query":{"id":0,"webFetchRequestQuery":{"args":{}}},${id}}`,
    ],
    [
      "an answer",
      { type: "answer", id: 0, kind: "webFetchRequestQuery", response: { approved: {} } },
      {},
      `{"type":"interaction_query","subtype":"response","query_type":"webFetchRequestQuery","response":{"id":0,"webFetchRequestResponse":{"approved":{}}},${id}}`,
    ],
    [
      "the irregular answer",
      { type: "answer", id: 1, kind: "askQuestionInteractionQuery", response: { rejected: { reason: "no" } } },
      {},
      `{"type":"interaction_query","subtype":"response","query_type":"askQuestionInteractionQuery","response":{"id":1,"askQuestionInteractionResponse":{"rejected":{"reason":"no"}}},${id}}`,
    ],
    [
      "a retry",
      { type: "retry", attempt: 2, discards: true, delayMs: 50, reason: "busy", at: 3 },
      {},
      `{"type":"retry","subtype":"starting",${id},"timestamp_ms":3,"attempt":2,"is_resume":true,"delay_ms":50,"message":"busy"}`,
    ],
    [
      "a notice",
      { type: "notice", kind: "model_changed", message: "m", fields: { model: "x" }, at: 3 },
      {},
      `{"type":"system","subtype":"model_changed","message":"m","model":"x",${id},"timestamp_ms":3}`,
    ],
    [
      "done",
      { type: "done", text: "t", ...ending, usage, at: 3 },
      {},
      `{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":4,"is_error":false,"result":"t",${id},"request_id":"r","usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4}}`,
    ],
    [
      "done with denials",
      { type: "done", text: "t", ...ending, denials: [{ tool: "shell", callId: "c", reason: "no" }] },
      {},
      `{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":4,"is_error":false,"result":"t",${id},"request_id":"r","permission_denials":[{"tool":"shell","call_id":"c","reason":"no"}]}`,
    ],
    [
      "fail",
      { type: "fail", message: "why", code: "MAX_TURNS", ...ending },
      {},
      `{"type":"result","subtype":"error","duration_ms":5,"duration_api_ms":4,"is_error":true,"result":"why","error_code":"MAX_TURNS",${id},"request_id":"r"}`,
    ],
    ["what nobody knows", { type: "other", raw: { b: 1, a: 2 } }, {}, '{"b":1,"a":2}'],
  ])("our own stream line is written exactly so: %s", (_name, event, options, line) => {
    expect(encode(event, options)).toBe(line);
  });

  test("an encoded text delta always has a timestamp, or readers would take it for a whole text", () => {
    const line = encodeEvent({ type: "text", text: "a" }, session, { partial: true });
    expect(decodeLine(line)).toMatchObject({ type: "text", text: "a", at: expect.any(Number) });
  });

  test("the stream codec leaves the kept fields of another codec alone", () => {
    expect(encode({ type: "thinking_end", carried: { keys: ["type"] } })).toContain('"subtype":"completed"');
  });

  test("a notice's fields cannot overwrite the stream line's own fields", () => {
    expect(encode({ type: "notice", kind: "k", message: "m", fields: { type: "result", session_id: "x" } })).toBe(
      `{"type":"system","subtype":"k","message":"m",${id}}`,
    );
  });

  test("decode(encode(event)) equals the event, for every kind", () => {
    const dice = random(11);
    const seen = new Set<string>();
    for (let round = 0; round < 5000; round++) {
      const event = dice.event(session);
      seen.add(event.type);
      const line = encodeEvent(event, session, { partial: true });
      const wire = JSON.parse(JSON.stringify(line));
      expect(decodeLine(wire, session)).toEqual(event);
    }
    expect(seen.size).toBe(15);
  });
});

describe("stream lines of others", () => {
  const call = (toolCall: unknown, subtype = "completed") => ({
    type: "tool_call",
    subtype,
    call_id: "c",
    tool_call: toolCall,
    session_id: session,
  });

  test.each<[string, unknown, Partial<Extract<AgentEvent, { type: "tool_end" }>>]>([
    [
      "siblings before the tool",
      { toolCallId: "x", completedAtMs: "5", readToolCall: { args: { path: "a" } } },
      { tool: "read", args: { path: "a" }, completedAt: 5 },
    ],
    [
      "a sibling that only looks like a tool",
      { lastToolCall: "c", grepToolCall: { args: 1 } },
      { tool: "grep", args: 1 },
    ],
    [
      "a tool that nobody knows",
      { teleportToolCall: { args: {}, result: { arrived: { at: 1 }, pid: 3 } } },
      { tool: "teleport", outcome: { kind: "arrived", value: { at: 1 }, siblings: { pid: 3 } } },
    ],
    [
      "scalars before the outcome",
      { shellToolCall: { result: { isBackground: true, pid: 1, success: {} } } },
      { outcome: { kind: "success", value: {}, siblings: { isBackground: true, pid: 1 } } },
    ],
    [
      "a policy object before the outcome",
      { shellToolCall: { result: { sandboxPolicy: {}, rejected: { reason: "r" } } } },
      { outcome: { kind: "rejected", value: { reason: "r" }, siblings: { sandboxPolicy: {} } } },
    ],
    ["an empty result", { shellToolCall: { result: {} } }, { tool: "shell" }],
    ["a function", { function: { name: "f", arguments: '{"a":1}' } }, { tool: "f", args: { a: 1 } }],
    ["a function with odd arguments", { function: { name: "f", arguments: "{" } }, { tool: "f", args: "{" }],
    ["name and input", { id: "1", name: "n", input: { a: 1 } }, { tool: "n", args: { a: 1 } }],
    ["no tool at all", { toolCallId: "c" }, { tool: "unknown" }],
  ])("a stream line of another CLI is decoded and encoded again: %s", (_name, toolCall, event) => {
    const line = call(toolCall);
    expect(decodeLine(line)).toMatchObject({ type: "tool_end", callId: "c", ...event });
    expect(again(line)).toBe(JSON.stringify(line));
  });

  test.each([
    ["no object", 5],
    ["no type", { a: 1 }],
    ["an unknown type", { type: "telemetry", x: [1] }],
    ["a call without an id", { type: "tool_call", subtype: "started", tool_call: {} }],
    ["an unknown subtype", call({}, "progress")],
    ["a resumed retry", { type: "retry", subtype: "resuming", attempt: 1, is_resume: true, checkpoint_turn_count: 2 }],
    ["a result without text", { type: "result", subtype: "success" }],
  ])("the stream codec keeps a line that it cannot understand unchanged: %s", (_name, line) => {
    expect(decodeLine(line)).toEqual({ type: "other", raw: line });
  });

  test("the stream codec does not count a result without an outcome as a success", () => {
    for (const result of [{}, { isBackground: false }, null, "text"]) {
      expect(decodeLine(call({ shellToolCall: { args: {}, result } }))).not.toHaveProperty("outcome");
    }
  });

  test("decoding a stream line joins its text blocks, and encoding separates them again", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "image", data: "x" },
      { type: "text", text: "b", cache: true },
    ];
    const line = { type: "assistant", message: { role: "assistant", content, id: 1 }, session_id: session };
    expect(decodeLine(line)).toMatchObject({ type: "text_end", text: "ab" });
    expect(again(line)).toBe(JSON.stringify(line));
  });

  test("either of the two error fields makes a decoded result an error", () => {
    const line = {
      type: "result",
      subtype: "success",
      duration_ms: 1,
      is_error: true,
      result: "bad",
      session_id: session,
    };
    expect(decodeLine(line)).toMatchObject({ type: "fail", message: "bad", apiDurationMs: 1 });
    expect(again(line)).toBe(JSON.stringify(line));
  });

  test("a decoded stream line of another session keeps its session id", () => {
    const line = { type: "thinking", subtype: "completed", session_id: "sub" };
    expect(encodeEvent(decodeLine(line, session), session)).toEqual(line);
    expect(decodeLine({ ...line, session_id: session }, session)).toEqual({ type: "thinking_end" });
  });

  test("notices in the stream keep the fields of system lines", () => {
    const line = { type: "system", subtype: "task_notification", session_id: session, task_id: "t", timestamp_ms: 4 };
    expect(decodeLine(line)).toMatchObject({
      type: "notice",
      kind: "task_notification",
      message: "",
      fields: { task_id: "t" },
      at: 4,
    });
    expect(again(line)).toBe(JSON.stringify(line));
  });
});

describe("text decoded once", () => {
  const turn: AgentEvent[] = [
    { type: "init", sessionId: session, cwd: "/w", permissionMode: "default", apiKeySource: "none" },
    { type: "text", text: "ha", at: 1 },
    { type: "text", text: "ha", at: 2 },
    { type: "text_end", text: "haha", modelCallId: "m" },
    { type: "tool_start", callId: "c", tool: "read", args: {}, modelCallId: "m", at: 3 },
    {
      type: "tool_end",
      callId: "c",
      tool: "read",
      args: {},
      outcome: { kind: "success", value: {} },
      modelCallId: "m",
      at: 4,
    },
    { type: "text", text: "do", at: 5 },
    { type: "retry", attempt: 1, discards: true, at: 6 },
    { type: "text", text: "don", at: 7 },
    { type: "text", text: "e", at: 8 },
    { type: "text_end", text: "done" },
    { type: "done", text: "hahadone", durationMs: 1, apiDurationMs: 1 },
  ];
  const lines = (options: EncodeOptions) =>
    turn.map((event) => encodeEvent(event, session, options)).filter((line) => line !== undefined);
  const decodeAll = (given: unknown[]) => {
    const decode = createDecoder();
    return given.flatMap((line) => decode(line));
  };

  test("events decoded from partial output equal the written events", () => {
    expect(decodeAll(lines({ partial: true }))).toEqual(turn);
  });

  test("streams with and without partial output decode to the same text", () => {
    expectSaid(decodeAll(lines({ partial: true })), "hahadone");
    expectSaid(decodeAll(lines({})), "hahadone");
  });

  test("whole texts of the original CLI have a timestamp as well", () => {
    const timed = lines({ partial: true }).map((line: any) =>
      line.model_call_id ? { ...line, timestamp_ms: 9 } : line,
    );
    expectSaid(decodeAll(timed), "hahadone");
  });

  test("a text that is never repeated whole ends at the next tool call or at the end of the stream", () => {
    const unflushed = lines({ partial: true }).filter((line: any) => line.type !== "assistant" || line.timestamp_ms);
    const events = decodeAll(unflushed);
    expectSaid(events, "hahadone");
    expect(events.filter((event) => event.type === "text_end")).toEqual([
      { type: "text_end", text: "haha", modelCallId: "m", carried: derived },
      { type: "text_end", text: "done", carried: derived },
    ]);
  });

  test("when a whole text has more than its deltas, the decoder adds the rest", () => {
    const cut = lines({ partial: true }).filter((line: any) => line.timestamp_ms !== 8);
    expectSaid(decodeAll(cut), "hahadone");
  });

  test("any turn decodes to the same text with and without deltas", () => {
    const dice = random(5);
    for (let round = 0; round < 300; round++) {
      const events = dice.turn(session);
      const end = events.at(-1) as Extract<AgentEvent, { type: "done" }>;
      for (const partial of [true, false]) {
        const wire = events
          .map((event) => encodeEvent(event, session, { partial }))
          .filter((line) => line !== undefined);
        expectSaid(decodeAll(wire.map((line) => JSON.parse(JSON.stringify(line)))), end.text);
      }
    }
  });
});
