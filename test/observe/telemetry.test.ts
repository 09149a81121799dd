// Traces and metrics of the built program, taken by a collector of our own.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { cli, createWorkspace, runCli, type Workspace } from "../support/run-cli.ts";
import { type Collector, collector } from "./collector.ts";

let here: Workspace;
let taker: Collector;

beforeEach(async () => {
  here = createWorkspace({
    "a.txt": "hello\n",
    ".cursor/agents/helper.md": "---\nname: helper\ndescription: Helps\n---\nHelp.\n",
  });
  taker = await collector();
});

afterEach(async () => {
  here.remove();
  await taker.stop();
});

const at = (url: string, more: Record<string, string> = {}) => ({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more } });

function parentsAreThere({ spans }: Collector, outside: readonly string[] = []): void {
  const ids = new Set([...spans.map(({ spanId }) => spanId), ...outside]);
  for (const { parentSpanId, name } of spans) if (parentSpanId !== undefined) expect(ids, name).toContain(parentSpanId);
}

const script = [
  {
    calls: [
      { name: "Read", args: { path: "a.txt" } },
      { name: "Read", args: { path: "missing.txt" } },
    ],
  },
  { calls: [{ name: "Task", args: { description: "look", prompt: "look", subagent_type: "helper" } }] },
  { text: "looked" },
  { text: "done" },
];

describe("a run with tools and a subagent", () => {
  it("a run with tools and a subagent is a tree of spans, and metrics, without contents", async () => {
    const run = await here.play(
      script,
      ["--trust"],
      at(taker.url, {
        OTEL_SERVICE_NAME: "tests",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=ci%20one,team=x",
        OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=one",
      }),
    );
    expect([run.exit, run.stderr]).toEqual([0, ""]);
    expect(taker.faults).toEqual([]);
    parentsAreThere(taker);
    expect(taker.resources[0]).toMatchObject({
      "service.name": "tests",
      "deployment.environment.name": "ci one",
      team: "x",
    });
    expect(taker.headers[0]).toMatchObject({ "x-tenant": "one" });
    const { spans } = taker;
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [root] = named("invoke_agent courser");
    expect(root).toMatchObject({ kind: 1, parentSpanId: undefined, status: {} });
    expect(root!.attributes).toMatchObject({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "courser" });
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [task] = named("execute_tool task");
    const [helper] = named("invoke_agent helper");
    expect(task!.parentSpanId).toBe(root!.spanId);
    expect(helper!.parentSpanId).toBe(task!.spanId);
    const chats = spans.filter(({ kind }) => kind === 3);
    expect(chats.map(({ parentSpanId }) => parentSpanId).sort()).toEqual(
      [root!.spanId, root!.spanId, root!.spanId, helper!.spanId].sort(),
    );
    expect(chats[0]!.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.response.finish_reasons": ["tool_call"],
    });
    const reads = named("execute_tool read");
    expect(reads.map(({ status }) => status.code).sort()).toEqual([2, undefined].sort());
    expect(reads.find(({ status }) => status.code === 2)!.attributes).toMatchObject({
      "error.type": expect.any(String),
    });
    expect(
      taker.metrics["gen_ai.client.token.usage"]!.map(({ attributes }) => attributes["gen_ai.token.type"]).sort(),
    ).toEqual(["input", "output"]);
    expect(taker.metrics["gen_ai.client.operation.duration"]!.every(({ temporality }) => temporality === 2)).toBe(true);
    expect(taker.metrics["courser.tool.calls"]!.reduce((sum, { asInt }) => sum + Number(asInt), 0)).toBe(3);
    expect(taker.text).not.toContain("hello");
  });

  it("telemetry includes prompts and answers on request, without secrets", async () => {
    const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    here.file("a.txt", `hello ${secret}\n`);
    const run = await here.play(
      script,
      ["--trust"],
      at(taker.url, { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" }),
    );
    expect([run.exit, taker.faults]).toEqual([0, []]);
    expect(taker.text).toContain("gen_ai.tool.call.result");
    expect(taker.text).toContain("hello");
    expect(taker.text).not.toContain(secret);
  });

  it("a run's spans join the trace in TRACEPARENT", async () => {
    const [trace, parent] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    await here.play([{ text: "hi" }], [], at(taker.url, { TRACEPARENT: `00-${trace}-${parent}-01` }));
    expect(taker.faults).toEqual([]);
    parentsAreThere(taker, [parent]);
    expect(taker.spans.find(({ name }) => name.startsWith("invoke_agent"))).toMatchObject({
      traceId: trace,
      parentSpanId: parent,
    });
    taker.spans.length = 0;
    await here.play([{ text: "hi" }], [], at(taker.url, { TRACEPARENT: `00-${trace}-${parent}-00` }));
    expect(taker.spans).toEqual([]);
  });
});

it("OpenTelemetry spans have a run's failure as their status", async () => {
  const run = await here.play([{ error: { code: "MODEL_REFUSED", message: "no" } }], [], at(taker.url));
  expect([run.exit, taker.faults]).toEqual([1, []]);
  expect(taker.spans.map(({ name, status, attributes }) => [name, status.code, attributes["error.type"]])).toEqual([
    [expect.stringMatching(/^chat /), 2, "MODEL_REFUSED"],
    ["invoke_agent courser", 2, "MODEL_REFUSED"],
  ]);
});

describe("OpenTelemetry variables", () => {
  it("telemetry warns about settings that it does not support", async () => {
    const nothing = async (more: Record<string, string>) => {
      const run = await here.play([{ text: "hi" }], [], at(taker.url, more));
      expect([run.exit, run.stderr]).toEqual([0, ""]);
      return run.notices();
    };
    expect(await nothing({ OTEL_SDK_DISABLED: "true" })).toBe("");
    expect(await nothing({ OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" })).toBe("");
    expect(await nothing({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toMatch(
      /grpc is not supported: set it to http\/json/,
    );
    expect(taker.text).toBe("");
    await nothing({ OTEL_TRACES_SAMPLER: "always_off", OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta" });
    expect(taker.spans).toEqual([]);
    expect(taker.metrics["gen_ai.client.operation.duration"]![0]!.temporality).toBe(1);
    expect(taker.faults).toEqual([]);
  });
});

describe("OTLP over HTTP", () => {
  it("export to an OpenTelemetry collector repeats a request only if the collector asks for it", async () => {
    const later = { status: 503, headers: { "retry-after": "0" } };
    const busy = await collector({ first: [later, { status: 429 }, later] });
    const strict = await collector({ status: 400, body: JSON.stringify({ message: "no" }) });
    try {
      const run = await here.play(script, ["--trust"], at(busy.url));
      expect([run.exit, run.stderr, busy.faults]).toEqual([0, "", []]);
      parentsAreThere(busy);
      expect(busy.spans.some(({ name }) => name === "invoke_agent courser")).toBe(true);
      expect(Object.keys(busy.metrics)).toContain("gen_ai.client.operation.time_to_first_chunk");
      expect(busy.headers).toHaveLength(5);
      const refused = await here.play([{ text: "hi" }], [], at(strict.url));
      expect([refused.exit, strict.headers.length]).toEqual([0, 2]);
      expect(refused.stderr.match(/did not accept the data: status 400/g)).toHaveLength(1);
    } finally {
      await Promise.all([busy.stop(), strict.stop()]);
    }
  });

  it("telemetry warns when an OpenTelemetry collector accepts only a part", async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } });
    const picky = await collector({ body });
    const run = await here.play([{ text: "hi" }], [], at(picky.url, { OTEL_METRICS_EXPORTER: "none" }));
    await picky.stop();
    expect([run.exit, picky.headers.length]).toEqual([0, 1]);
    expect(run.stderr).toMatch(/did not accept the data: 2 spans rejected: too old\./);
  });

  it("traces, metrics and logs may each have their own address, headers, timeout and compression", async () => {
    const other = await collector();
    const secret = "hcaik_01j8abcdefghij";
    const run = await here.play(
      [{ calls: [{ name: "Shell", args: { command: "env" } }] }, { text: "done" }],
      [],
      at("http://127.0.0.1:9", {
        OTEL_TRACES_EXPORTER: "otlp",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${taker.url}/v1/traces`,
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${other.url}/v1/metrics`,
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
        OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: "none",
        OTEL_EXPORTER_OTLP_HEADERS: `x-team=${secret}`,
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-dataset=a%2Cb",
        TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        TRACESTATE: "vendor=1",
      }),
    );
    await other.stop();
    expect([run.exit, run.stderr, taker.faults, other.faults]).toEqual([0, "", [], []]);
    expect(taker.headers[0]).toMatchObject({ "x-team": secret, "x-dataset": "a,b", "content-encoding": "gzip" });
    expect(other.headers[0]).toMatchObject({ "x-team": secret });
    expect(other.headers[0]).not.toHaveProperty("content-encoding");
    expect([taker.spans.length > 0, Object.keys(other.metrics).length > 0]).toEqual([true, true]);
    expect(taker.spans.every(({ traceState }) => traceState === "vendor=1")).toBe(true);
    // It is the user's, and not for commands of the model.
    expect(run.stdout).not.toContain(secret);
  });

  it("spans use OpenTelemetry's names for provider and server, and each process has its own instance id", async () => {
    await using server = await modelServer([{ text: "hi" }, { text: "hi" }]);
    here.file(`${here.config}/courser.json`, JSON.stringify({ providers: { xai: { baseUrl: `${server.url}/v1` } } }));
    const ask = ["-p", "--trust", "--model", "xai/grok-x", "hi"];
    const key = { XAI_API_KEY: "xai-123456789" };
    for (const _ of [1, 2]) expect((await here.run(ask, at(taker.url, key))).exit).toBe(0);
    const { port } = new URL(server.url);
    expect(taker.spans.find(({ kind }) => kind === 3)!.attributes).toMatchObject({
      "gen_ai.provider.name": "x_ai",
      "gen_ai.request.model": "grok-x",
      "server.address": "127.0.0.1",
      "server.port": Number(port),
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
    });
    expect(new Set(taker.resources.map((resource) => resource["service.instance.id"])).size).toBe(2);
  });
});

describe("an unreachable collector", () => {
  it("an unreachable OpenTelemetry collector does not affect the run and is reported once", async () => {
    const plain = await here.play([{ text: "hi" }]);
    const run = await here.play([{ text: "hi" }], [], at("http://127.0.0.1:9"));
    expect(run.exit).toBe(0);
    expect(run.lines().at(-1)).toMatchObject({ type: "result", result: plain.lines().at(-1)!["result"] });
    expect(run.stderr.match(/OpenTelemetry/g)).toHaveLength(1);
    expect(run.stderr).toMatch(
      /the collector at 127\.0\.0\.1:9 did not accept the data: .*ECONNREFUSED.*\. The run is not affected\./,
    );
  });

  it("a silent or refusing OpenTelemetry collector does not affect the run and is reported once", async () => {
    const silent = await collector({ silent: true });
    const refusing = await collector({ status: 500 });
    try {
      const run = await here.play([{ text: "hi" }], [], at(silent.url));
      expect([run.exit, run.stderr]).toEqual([
        0,
        expect.stringMatching(/^Warning: OpenTelemetry: the collector did not answer within 2 s/),
      ]);
      const other = await here.play([{ text: "hi" }], [], at(refusing.url));
      expect([other.exit, other.stderr]).toEqual([0, expect.stringMatching(/status 500/)]);
    } finally {
      await Promise.all([silent.stop(), refusing.stop()]);
    }
  });
});

it("a run without telemetry does not load telemetry code", async () => {
  const trace = here.file(
    "trace.cjs",
    `const fs = require("node:fs"); const read = fs.readFileSync;
fs.readFileSync = (file, ...rest) => { if (/cli.*\\.cjs$/.test(String(file))) fs.appendFileSync(${JSON.stringify(`${here.home}/loaded`)}, file + "\\n"); return read(file, ...rest); };`,
  );
  const loaded = async (more: Record<string, string>) => {
    here.file(`${here.home}/loaded`, "");
    await runCli(["-p", "--force", "--model", "offline", "what is 2+2?"], {
      cwd: here.path,
      env: { ...here.env, NODE_OPTIONS: `--require=${trace}`, ...more },
      name: cli,
    });
    return (await import("node:fs")).readFileSync(`${here.home}/loaded`, "utf8");
  };
  expect(await loaded({})).not.toMatch(/observed-run|tracer|run-log/);
  expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: taker.url })).toMatch(/tracer/);
});
