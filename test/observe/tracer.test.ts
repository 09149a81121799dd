// The spans and metrics that events become, in full, and what of a run's content is in them; how they reach a collector.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ModelAnswer, ModelCall } from "../../src/observe/observer.ts";
import { type OtelSettings, readOtelSettings } from "../../src/observe/otel/settings.ts";
import { Tracer } from "../../src/observe/otel/tracer.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { type Collector, collector } from "./collector.ts";

let taker: Collector;
beforeEach(async () => {
  taker = await collector();
});
afterEach(async () => {
  await taker.stop();
  vi.restoreAllMocks();
});

const second = 1000;
/** Times have 19 digits in nanoseconds. */
const start = 1_700_000_000_000;

function opened(env: Record<string, string> = {}, more: Partial<OtelSettings> = {}, url = taker.url) {
  const settings = { ...readOtelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env })!, ...more };
  const warned: string[] = [];
  const redact = (text: string) => text.replaceAll("hunter2", "***");
  const tracer = new Tracer({ settings, env: {}, version: "9.9", redact, warn: (text) => warned.push(text) });
  const tell = (event: object, at = start, agent?: string) =>
    tracer.event({ event: event as AgentEvent, ...(agent !== undefined && { agent }) }, at);
  return { tracer, tell, warned };
}

const usage = { inputTokens: 10, outputTokens: 7, cacheReadTokens: 200, cacheWriteTokens: 3000 };
const usageSaid = {
  "gen_ai.usage.input_tokens": 3210,
  "gen_ai.usage.output_tokens": 7,
  "gen_ai.usage.cache_read.input_tokens": 200,
  "gen_ai.usage.cache_creation.input_tokens": 3000,
};
const messages = [
  {
    role: "user",
    parts: [
      { type: "text", text: "open hunter2" },
      { type: "image", mime: "image/png", base64: "AA" },
    ],
  },
  {
    role: "assistant",
    parts: [
      { type: "thinking", text: "hm" },
      { type: "tool_call", id: "c", name: "Read", args: { path: "a" } },
    ],
  },
  {
    role: "user",
    parts: [
      { type: "text", text: "and" },
      { type: "tool_result", id: "c", text: "hello" },
    ],
  },
];
const call = (more: Partial<ModelCall> = {}, request: object = {}) =>
  ({
    ...{ number: 1, name: "M", provider: "p", startedAt: start, ...more },
    request: { model: "m", system: "be hunter2", messages, tools: [], ...request },
  }) as unknown as ModelCall;
const answer = (more: object = {}) => ({ endedAt: start + 4 * second, parts: [], ...more }) as ModelAnswer;
const init = { type: "init", sessionId: "chat", model: "Model" };
const user = { type: "user", text: "open hunter2" };
const done = { type: "done", text: "ok", durationMs: 5 * second, usage };
const metric = (name: string) =>
  taker.metrics[name]?.map(({ attributes, sum, asInt }) => [sum ?? Number(asInt), attributes]);

describe("spans", () => {
  async function oneTurn(capture: boolean) {
    const { tracer, tell, warned } = opened({}, { captureContent: capture });
    tell(init);
    tell(user);
    tell({ ...user, text: "more" }, start + 1); // belongs to the same turn
    tracer.asked(call({ url: "https://api.example/v1" }));
    tracer.retried(call({ url: "https://api.example/v1" }));
    const parts = [{ type: "tool_call", id: "c", name: "Read", args: {} }] as never;
    tracer.answered(call({ url: "https://api.example/v1" }), answer({ firstAt: start + second, usage, parts }));
    tell({ type: "tool_start", callId: "c", tool: "shell", args: { command: "cat hunter2" }, startedAt: start });
    tell(
      {
        type: "tool_end",
        callId: "c",
        tool: "shell",
        outcome: { kind: "failure", value: { exitCode: 3, out: "hunter2" } },
      },
      start + 9,
    );
    tell({ ...done, denials: [1, 2] }, start + 5 * second);
    expect(await tracer.end()).toBeUndefined();
    expect([taker.faults, warned]).toEqual([[], []]);
    return Object.fromEntries(taker.spans.map((span) => [span.name, span]));
  }
  const chat = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "p",
    "gen_ai.request.model": "m",
    "server.address": "api.example",
    "server.port": 443,
    "gen_ai.conversation.id": "chat",
    ...usageSaid,
    "gen_ai.response.time_to_first_chunk": 1,
    "gen_ai.response.finish_reasons": ["tool_call"],
  };
  const tool = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "shell",
    "gen_ai.tool.call.id": "c",
    "gen_ai.tool.type": "function",
    "gen_ai.conversation.id": "chat",
    "error.type": "failure",
    "process.exit.code": 3,
  };
  const turn = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "courser",
    "gen_ai.agent.name": "courser",
    "gen_ai.agent.id": "chat",
    "gen_ai.agent.version": "9.9",
    "gen_ai.conversation.id": "chat",
    "gen_ai.request.model": "Model",
    ...usageSaid,
    "courser.denials": 2,
  };

  it("the spans of a turn, a model request and a tool call have all attributes, and no content", async () => {
    const spans = await oneTurn(false);
    expect(Object.keys(spans).sort()).toEqual(["chat m", "execute_tool shell", "invoke_agent courser"]);
    expect(spans["chat m"]).toMatchObject({ kind: 3, status: {}, parentSpanId: spans["invoke_agent courser"]!.spanId });
    expect(spans["chat m"]!.attributes).toEqual(chat);
    expect(spans["execute_tool shell"]!.attributes).toEqual(tool);
    expect(spans["execute_tool shell"]!.status).toEqual({ code: 2, message: "the call ended as failure" });
    expect(spans["invoke_agent courser"]!.attributes).toEqual(turn);
    expect(taker.resources[0]).toMatchObject({
      ...{ "service.name": "courser", "service.version": "9.9", "telemetry.sdk.name": "courser" },
      ...{ "telemetry.sdk.language": "nodejs", "telemetry.sdk.version": "9.9" },
    });
    const server = { "server.address": "api.example", "server.port": 443 };
    const model = { "gen_ai.provider.name": "p", "gen_ai.request.model": "m", ...server };
    const operation = { "gen_ai.operation.name": "chat", ...model };
    expect(metric("courser.model.retries")).toEqual([[1, model]]);
    expect(metric("gen_ai.client.operation.time_to_first_chunk")).toEqual([[1, operation]]);
    expect(metric("gen_ai.client.operation.duration")).toEqual([
      [4, operation],
      [5, { "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "courser" }],
    ]);
    expect(metric("gen_ai.client.token.usage")).toEqual([
      [3210, { ...operation, "gen_ai.token.type": "input" }],
      [7, { ...operation, "gen_ai.token.type": "output" }],
    ]);
    expect(metric("courser.tool.calls")).toEqual([[1, { "gen_ai.tool.name": "shell", "courser.outcome": "failure" }]]);
    expect(metric("courser.denials")).toBeUndefined();
  });

  it("spans contain content on request, in the form of the conventions, without secrets", async () => {
    const spans = await oneTurn(true);
    const content = (name: string, key: string) => JSON.parse(spans[name]!.attributes[key] as string);
    expect(content("chat m", "gen_ai.input.messages")).toEqual([
      {
        role: "user",
        parts: [
          { type: "text", content: "open ***" },
          { type: "blob", modality: "image", mime_type: "image/png" },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "hm" },
          { type: "tool_call", id: "c", name: "Read", arguments: { path: "a" } },
        ],
      },
      {
        role: "tool",
        parts: [
          { type: "text", content: "and" },
          { type: "tool_call_response", id: "c", response: "hello" },
        ],
      },
    ]);
    expect(content("chat m", "gen_ai.system_instructions")).toEqual([{ type: "text", content: "be ***" }]);
    expect(content("chat m", "gen_ai.output.messages")).toEqual([
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "c", name: "Read", arguments: {} }],
        finish_reason: "tool_call",
      },
    ]);
    expect(content("execute_tool shell", "gen_ai.tool.call.arguments")).toEqual({ command: "cat ***" });
    expect(content("execute_tool shell", "gen_ai.tool.call.result")).toEqual({ exitCode: 3, out: "***" });
    expect(content("invoke_agent courser", "gen_ai.input.messages")).toEqual([
      { role: "user", parts: [{ type: "text", content: "open ***" }] },
    ]);
  });

  it("failed spans name the kind of failure, and only successful ones have a finish reason", async () => {
    const { tracer, tell } = opened();
    tell(init);
    tell(user);
    const error = { code: "AUTH", message: "no hunter2" };
    for (const [number, more] of [
      [1, { error }],
      [2, { cut: true }],
      [3, {}],
    ] as const) {
      tracer.asked(call({ number }, { model: `m${number}` }));
      tracer.answered(call({ number }, { model: `m${number}` }), answer(more));
    }
    for (const kind of ["rejected", "permissionDenied", "success"]) {
      tell({ type: "tool_start", callId: kind, tool: kind, args: null });
      tell({ type: "tool_end", callId: kind, tool: kind, outcome: { kind, value: {} } });
    }
    tell({ type: "tool_start", callId: "n", tool: "none" });
    tell({ type: "tool_end", callId: "n", tool: "none" });
    tell({ type: "fail", message: "bad hunter2", durationMs: 1 });
    await tracer.end();
    expect(
      taker.spans.map(({ name, status, attributes: said }) => [
        name,
        status.message,
        said["error.type"],
        said["gen_ai.response.finish_reasons"],
      ]),
    ).toEqual([
      ["chat m1", "no ***", "AUTH", undefined],
      ["chat m2", undefined, undefined, undefined],
      ["chat m3", undefined, undefined, ["stop"]],
      ["execute_tool rejected", "the call ended as rejected", "rejected", undefined],
      ["execute_tool permissionDenied", "the call ended as permissionDenied", "permissionDenied", undefined],
      ["execute_tool success", undefined, undefined, undefined],
      ["execute_tool none", "the call ended as none", "none", undefined],
      ["invoke_agent courser", "bad ***", "INTERNAL", undefined],
    ]);
    expect(metric("courser.denials")).toEqual([
      [1, { "gen_ai.tool.name": "rejected" }],
      [1, { "gen_ai.tool.name": "permissionDenied" }],
    ]);
    const durations = metric("gen_ai.client.operation.duration")!.map(([, said]) => said["error.type"]);
    expect(durations).toEqual(["AUTH", undefined, undefined, "INTERNAL"]);
    // Nothing came, so that there is no first piece.
    expect(metric("gen_ai.client.operation.time_to_first_chunk")).toBeUndefined();
  });

  it("the tracer counts a tool call that ends without a beginning, but makes no span of it", async () => {
    const { tracer, tell } = opened();
    tracer.answered(call(), answer());
    tell({ type: "tool_end", callId: "c", tool: "shell", outcome: { kind: "success" } });
    tell(done);
    await tracer.end();
    expect(taker.spans).toEqual([]);
    expect(metric("courser.tool.calls")).toHaveLength(1);
  });

  it("the tracer sends nothing for a run in which nothing happened", async () => {
    await opened().tracer.end();
    expect(taker.headers).toEqual([]);
  });

  it.each([
    [{ custom: { name: "helper" } }, "helper"],
    [{ explore: {} }, "explore"],
    [{ explore: null }, "explore"],
    [{}, "subagent"],
    [null, "subagent"],
    ["helper", "subagent"],
  ])(
    "the tracer puts a subagent of the type %j as a turn below the call that started it",
    async (subagentType, name) => {
      const { tracer, tell } = opened();
      tell(init);
      tell(user);
      tell({ type: "tool_start", callId: "t", tool: "task", args: { agentId: "sub", subagentType } });
      tell(user, start, "sub");
      tracer.asked(call({}, { agent: "sub" }));
      tracer.answered(call({}, { agent: "sub" }), answer());
      tell({ type: "tool_start", callId: "t", tool: "read", args: {} }, start, "sub");
      tell({ type: "tool_end", callId: "t", tool: "read", outcome: { kind: "success" } }, start, "sub");
      tell({ ...done, usage: undefined }, start, "sub");
      tell({ type: "tool_end", callId: "t", tool: "task", outcome: { kind: "success", value: {} } });
      tell(done);
      await tracer.end();
      const span = (wanted: string) => taker.spans.find((each) => each.name === wanted)!;
      const turn = span(`invoke_agent ${name}`);
      expect(turn.attributes).toMatchObject({ "gen_ai.agent.id": "sub", "gen_ai.agent.name": name });
      expect(turn.parentSpanId).toBe(span("execute_tool task").spanId);
      expect(span("execute_tool task").attributes["courser.subagent"]).toBe(name);
      for (const inner of ["chat m", "execute_tool read"]) expect(span(inner).parentSpanId).toBe(turn.spanId);
      expect(taker.spans).toHaveLength(5);
      expect(new Set(taker.spans.map(({ traceId }) => traceId)).size).toBe(1);
    },
  );

  it("the tracer ends open spans at the end of the run", async () => {
    const { tracer, tell } = opened();
    tell(init);
    tell(user);
    tracer.asked(call());
    tell({ type: "tool_start", callId: "c", tool: "shell", args: {} });
    await tracer.end();
    const ended = taker.spans.map(({ name, status }) => [name, status]);
    const status = { code: 2, message: "the run ended first" };
    expect(ended).toEqual(["chat m", "execute_tool shell", "invoke_agent courser"].map((name) => [name, status]));
  });

  it.each([
    ["google", "gcp.gemini"],
    ["mistral", "mistral_ai"],
    ["moonshot", "moonshot_ai"],
    ["xai", "x_ai"],
    ["openai", "openai"],
  ])("the provider %s is called %s in spans", async (provider, name) => {
    const { tracer } = opened();
    for (const [number, url] of ["http://h/", "http://h:8080/", "https://h/", "not a URL"].entries()) {
      tracer.asked(call({ number, provider, url }));
      tracer.answered(call({ number, provider, url }), answer());
    }
    await tracer.end();
    expect(taker.spans.map(({ attributes: said }) => [said["gen_ai.provider.name"], said["server.port"]])).toEqual([
      [name, 80],
      [name, 8080],
      [name, 443],
      [name, undefined],
    ]);
  });

  it.each([
    [{}, {}, 1],
    [{ ratio: 0 }, {}, 0],
    [{ parent: { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true } }, { ratio: 0 }, 1],
    [{ parent: { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: false } }, {}, 0],
    [
      { parent: { traceId: `${"a".repeat(24)}7fffffff`, spanId: "b".repeat(16), isSampled: false } },
      { isParentBased: false, ratio: 0.5 },
      1,
    ],
    [
      { parent: { traceId: `${"a".repeat(24)}80000000`, spanId: "b".repeat(16), isSampled: true } },
      { isParentBased: false, ratio: 0.5 },
      0,
    ],
  ])("with %j and %j the tracer samples a trace: %d", async (one, other, count) => {
    const { tracer, tell } = opened({}, { ...one, ...other } as Partial<OtelSettings>);
    tell(init);
    tell(user);
    tell(done);
    await tracer.end();
    expect(taker.spans).toHaveLength(count);
    expect(Object.keys(taker.metrics)).not.toEqual([]);
  });

  it.each([
    [256, 1],
    [257, 2],
  ])("the tracer sends %d spans in %d requests", async (count, requests) => {
    const { tracer, tell } = opened({ OTEL_METRICS_EXPORTER: "none" });
    for (let index = 0; index < count; index++) {
      tell({ type: "tool_start", callId: `${index}`, tool: "read" });
      tell({ type: "tool_end", callId: `${index}`, tool: "read", outcome: { kind: "success" } });
    }
    await tracer.end();
    expect([taker.spans.length, taker.headers.length]).toEqual([count, requests]);
  });

  it("the tracer sends 256 spans at a time, and beyond 2048 drops and counts them", async () => {
    const { tracer, tell, warned } = opened({ OTEL_METRICS_EXPORTER: "none" }, { warnings: ["a setting"] });
    for (let index = 0; index < 2051; index++) {
      tell({ type: "tool_start", callId: `${index}`, tool: "read" });
      tell({ type: "tool_end", callId: `${index}`, tool: "read", outcome: { kind: "success" } });
    }
    expect(await tracer.end()).toBe("OpenTelemetry: 3 spans were dropped, the collector was too slow.");
    expect([taker.spans.length, taker.headers.length, warned]).toEqual([2048, 8, ["a setting"]]);
    expect(taker.metrics).toEqual({});
  });
});

describe("a collector that does not accept everything", () => {
  async function fault(given: Parameters<typeof collector>[0], more: Partial<OtelSettings> = {}) {
    const strict = await collector(given);
    const { tracer, tell } = opened({ OTEL_METRICS_EXPORTER: "none" }, more, strict.url);
    tell(init);
    tell(user);
    tell(done);
    const said = await tracer.end();
    await strict.stop();
    return {
      said: said?.replace(/^.*did not accept the data: (.*) The run is not affected\.$/, "$1"),
      asked: strict.headers.length,
    };
  }
  const partial = (partialSuccess: unknown) => ({ body: JSON.stringify({ partialSuccess }) });

  it.each([
    [partial({ rejectedSpans: "2", errorMessage: "too old" }), "2 spans rejected: too old."],
    [partial({ rejectedSpans: 1 }), "1 spans rejected."],
    [partial({ rejectedDataPoints: "3" }), "3 data points rejected."],
    [partial({ rejectedSpans: 0, errorMessage: "a hint" }), "a hint."],
    [partial({ errorMessage: "x".repeat(300) }), `${"x".repeat(200)}.`],
    [partial({ rejectedSpans: 0, errorMessage: 7 }), undefined],
    [partial({}), undefined],
    [partial("all"), undefined],
    [{ body: "not JSON" }, undefined],
    [{ status: 400, body: "y".repeat(300) }, `status 400 ${"y".repeat(200)}.`],
    [{ status: 500, body: "" }, "status 500."],
  ])(
    "export to an OpenTelemetry collector that answers %j is tried once and reported as %s",
    async (given, expected) => {
      expect(await fault(given)).toEqual({ said: expected, asked: 1 });
    },
  );

  const past = new Date(0).toUTCString();
  const future = new Date(Date.now() + 3_600_000).toUTCString();
  it.each([
    [429, "0", 2],
    [502, "0", 2],
    [503, past, 2],
    [504, "0.01", 2],
    [503, "5", 1], // longer than the end of a run waits
    [503, "3600", 1],
    [503, future, 1],
    [500, "0", 1],
    [501, "0", 1],
  ])(
    "export to a collector that answers status %d with Retry-After %s is tried %d times",
    async (status, after, count) => {
      const { asked, said } = await fault({ first: [{ status, headers: { "retry-after": after } }] });
      expect([asked, said]).toEqual([count, count === 1 ? `status ${status}.` : undefined]);
    },
  );

  it("export to an OpenTelemetry collector is retried after the pause it asks for, and not before", async () => {
    const asked = performance.now();
    const first = [{ status: 503, headers: { "retry-after": "0.15" } }];
    expect(await fault({ first })).toEqual({ said: undefined, asked: 2 });
    expect(performance.now() - asked).toBeGreaterThan(140);
  });

  it("an OpenTelemetry collector's refusal is one warning during the run, not repeated at the end", async () => {
    const strict = await collector({ status: 400 });
    const { tracer, tell, warned } = opened({}, { scheduleMs: 5 }, strict.url);
    tell(init);
    tell(user);
    tell(done);
    await vi.waitFor(() => expect(warned).toEqual([expect.stringContaining("did not accept the data: status 400")]));
    tell(user);
    tell(done);
    expect(await tracer.end()).toBeUndefined();
    await strict.stop();
    expect([warned.length, strict.headers.length]).toEqual([1, 3]);
  });

  it("export to an OpenTelemetry collector stops after five refused attempts", async () => {
    const later = { status: 503, headers: { "retry-after": "0" } };
    expect(await fault({ first: [later, later, later, later] })).toEqual({ said: undefined, asked: 5 });
    expect(await fault({ first: [later, later, later, later, later] })).toEqual({ said: "status 503.", asked: 5 });
  });
});
