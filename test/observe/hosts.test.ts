// Every way to start a run writes the same log and sends the same traces as print mode, with relative paths seen from where the user is.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { AcpClient } from "../acp/acp-client.ts";
import { TestService, until } from "../serve/service-support.ts";
import { TestFleet } from "../serve/worker-support.ts";
import { type Collector, collector } from "./collector.ts";

const service = new TestService();
const { workspace } = service;
let taker: Collector;
let model: string;
let printed: { log: string[]; spans: string[]; metrics: string[] };
let env: Record<string, string>;
let file: string;

const script = [
  {
    calls: [
      { name: "Read", args: { path: "a.txt" } },
      { name: "Read", args: { path: "missing.txt" } },
    ],
  },
  { text: "done" },
];
const trace = "0af7651916cd43dd8448eb211c80319c";

async function prepare(): Promise<void> {
  taker = await collector();
  file = join(workspace.path, `run-${Math.random().toString(36).slice(2)}.log`);
  env = {
    // From where the user types it.
    COURSER_LOG: file.slice(workspace.path.length + 1),
    OTEL_EXPORTER_OTLP_ENDPOINT: taker.url,
    TRACEPARENT: `00-${trace}-b7ad6b7169203331-01`,
  };
  // A service takes background runs with the settings that it was started with.
  await until(() => !service.killAny(), "the service of the run before to be gone");
}

beforeEach(prepare);
afterEach(() => taker.stop());
afterAll(() => service.remove());

const lines = () =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, any>)
    : [];

/** What is the same however a run is started. */
async function observed() {
  await until(() => lines().at(-1)?.["event"] === "end", `the end of ${file}`);
  await until(() => Object.keys(taker.metrics).length > 0, "the metrics, which are sent last");
  expect(taker.faults).toEqual([]);
  expect(new Set(taker.spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]));
  return {
    log: lines()
      .filter(({ level }) => level !== "debug")
      .map(({ event, outcome }) => (outcome === undefined ? event : `${event} ${outcome}`)),
    spans: taker.spans.map(({ name, status }) => `${name} ${status.code ?? ""}`).sort(),
    metrics: Object.keys(taker.metrics).sort(),
  };
}

beforeAll(async () => {
  workspace.file("a.txt", "hello\n");
  model = service.script(script);
  await prepare();
  const run = await workspace.run(["-p", "--force", "--model", model, "go"], { env });
  expect([run.exit, run.stderr]).toEqual([0, ""]);
  printed = await observed();
  await taker.stop();
});

it("print mode writes run events to log and telemetry in order", () => {
  expect(printed.log).toEqual([
    "start",
    "init",
    "prompt",
    "model_request",
    "model_reply",
    "tool_start",
    "tool_start",
    expect.stringMatching(/^tool_end /),
    expect.stringMatching(/^tool_end /),
    "model_request",
    "model_reply",
    "result",
    "end",
  ]);
});

it("log and telemetry record a background run like one of print mode", async () => {
  const run = await workspace.run(["-b", "--force", "--model", model, "go"], { env });
  expect([run.exit, run.stderr]).toEqual([0, ""]);
  await service.over(run.stdout.trim());
  expect(await observed()).toEqual(printed);
  const refused = await workspace.run(["-b", "--log", "x.log", "go"]);
  expect(refused.stderr).toContain("COURSER_LOG=FILE");
});

it("log and telemetry record a run of the service, which the studio uses, like one of print mode", async () => {
  const { COURSER_LOG: log, ...rest } = env;
  await service.start(["--log", log!], rest);
  const { status } = await service.call("POST", "/v1/agents", {
    prompt: { text: "go" },
    workspace: workspace.path,
    model: { id: model },
    force: true,
  });
  expect(status).toBe(201);
  expect(await observed()).toEqual(printed);
});

it("log and telemetry record a worker's run, wherever its files are, like one of print mode", async () => {
  const fleet = new TestFleet();
  try {
    const path = fleet.repository({ "a.txt": "hello\n" });
    file = join(fleet.workspace.path, "worker.log");
    const worker = fleet.start(["--single-use"], { ...env, COURSER_LOG: "worker.log" });
    const id = await fleet.enqueue(fleet.spec({ source: { type: "git", from: path } }, { model }));
    const { end } = await fleet.over(id);
    expect(end?.outcome, JSON.stringify(end)).toBe("finished");
    expect(await observed()).toEqual(printed);
    await worker.ended;
  } finally {
    await fleet.remove();
  }
});

it("log and telemetry record an editor's ACP session like one of print mode", async () => {
  const client = await AcpClient.start(workspace, { args: ["--model", model, "--force"], env });
  await client.prompt(await client.newSession(), "go");
  await client.leave();
  expect(await observed()).toEqual(printed);
});
