// Traces and metrics of the built program, taken by a collector of our own.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
  it("is a tree of spans, and metrics, without contents", async () => {
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

  it("tells contents where they are asked for, without secrets", async () => {
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

  it("is a part of the trace that it was started in, as its parent has it", async () => {
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

it("a failure is the status of its spans", async () => {
  const run = await here.play([{ error: { code: "MODEL_REFUSED", message: "no" } }], [], at(taker.url));
  expect([run.exit, taker.faults]).toEqual([1, []]);
  expect(taker.spans.map(({ name, status, attributes }) => [name, status.code, attributes["error.type"]])).toEqual([
    [expect.stringMatching(/^chat /), 2, "MODEL_REFUSED"],
    ["invoke_agent courser", 2, "MODEL_REFUSED"],
  ]);
});

describe("variables", () => {
  it("say what is not sent", async () => {
    const nothing = async (more: Record<string, string>) => {
      const run = await here.play([{ text: "hi" }], [], at(taker.url, more));
      expect([run.exit, run.stderr]).toEqual([0, ""]);
      return run.notices();
    };
    expect(await nothing({ OTEL_SDK_DISABLED: "true" })).toBe("");
    expect(await nothing({ OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" })).toBe("");
    expect(await nothing({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toMatch(
      /grpc is not spoken here: set it to http\/json/,
    );
    expect(taker.text).toBe("");
    await nothing({ OTEL_TRACES_SAMPLER: "always_off", OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta" });
    expect(taker.spans).toEqual([]);
    expect(taker.metrics["gen_ai.client.operation.duration"]![0]!.temporality).toBe(1);
    expect(taker.faults).toEqual([]);
  });
});

describe("a collector that is not there", () => {
  it("changes nothing, and is told once", async () => {
    const plain = await here.play([{ text: "hi" }]);
    const run = await here.play([{ text: "hi" }], [], at("http://127.0.0.1:9"));
    expect(run.exit).toBe(0);
    expect(run.lines().at(-1)).toMatchObject({ type: "result", result: plain.lines().at(-1)!["result"] });
    expect(run.stderr.match(/OpenTelemetry/g)).toHaveLength(1);
    expect(run.stderr).toMatch(/127\.0\.0\.1:9 does not take what is sent: .*\. The run is not affected\./);
  });

  it("and one that never answers, or refuses, neither", async () => {
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

it("nothing of it is loaded where nothing asks for it", async () => {
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
