// Every command that waits for a fleet × what may end it: its servers are gone for good, SIGINT, SIGTERM, a parent that died. Each ends in
// time, also where the connection does nothing any more.
import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardChild } from "../../src/process/guard.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { freePort } from "../support/free-port.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { newRun } from "./fleet-kit.ts";

/** Each waits for something that never comes: the run is for a pool without workers, and nobody says the prompt of `-b`. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "-b": ["-b", "--pool", "nobody", "--force", "--source", "none"],
  batch: ["batch", "tasks.jsonl", "--pool", "nobody", "--force", "--source", "none"],
  "runs logs --follow": ["runs", "logs", "run-0", "--follow"],
  "runs attach": ["runs", "attach", "run-0"],
  eval: ["eval", join(repository, "eval/tasks/add-test"), "--pool", "nobody", "--model", "script:script.json"],
  serve: ["serve"],
  studio: ["studio", "--no-open"],
  "worker start": ["worker", "start"],
};

type Way = { name: string; isGone: boolean; timeout: number; end(started: Started): unknown; withinMs: number };
type Started = { command: string; parent: ChildProcess; pid: number; said(): string };

/** One that has ended by itself meanwhile, because of what it says, has ended in time. */
const kill = (signal: NodeJS.Signals) => (started: Started) =>
  isThere(started.pid) && process.kill(started.pid, signal);
const ways: readonly Way[] = [
  { name: "the servers are gone", isGone: true, timeout: 3, end: () => {}, withinMs: 3000 + 9000 },
  { name: "SIGINT", isGone: false, timeout: 600, end: kill("SIGINT"), withinMs: 2000 },
  { name: "SIGTERM", isGone: false, timeout: 600, end: kill("SIGTERM"), withinMs: 2000 },
  { name: "SIGINT while the servers are gone", isGone: true, timeout: 600, end: kill("SIGINT"), withinMs: 2000 },
  { name: "SIGTERM while the servers are gone", isGone: true, timeout: 600, end: kill("SIGTERM"), withinMs: 2000 },
  {
    name: "the parent died",
    isGone: false,
    timeout: 600,
    end: ({ parent }) => parent.kill("SIGKILL"),
    withinMs: 3000,
  },
  {
    name: "the parent died while the servers are gone",
    isGone: true,
    timeout: 600,
    end: ({ parent }) => parent.kill("SIGKILL"),
    withinMs: 3000,
  },
];

describe.skipIf(noNatsServer)(orSkipped("commands that wait for a fleet", noNatsServer), () => {
  const place = createWorkspace();
  let count = 0;
  const all: Started[] = [];
  const servers: NatsServer[] = [];
  beforeAll(() => {
    writeFileSync(join(place.path, "tasks.jsonl"), '{"prompt": "wait"}\n');
    writeFileSync(join(place.path, "script.json"), '[{"text": "done"}]');
  });
  afterAll(async () => {
    for (const { pid } of all) if (isThere(pid)) process.kill(pid, "SIGKILL");
    await Promise.all(servers.map((server) => server.remove()));
    place.remove();
  });

  it.each(ways)(
    "long-running commands end in time: $name",
    { timeout: 60_000 },
    async ({ name, isGone, timeout, end, withinMs }) => {
      const monitor = await freePort();
      const server = await NatsServer.start({ config: `http: "127.0.0.1:${monitor}"` });
      servers.push(server);
      const own = await openFleet(server.url(), { configDir: "/nowhere", env: {} });
      const run = newRun(0);
      await own.enqueue({ ...run, spec: { ...run.spec, placement: { pool: "nobody" } } });
      own.close();
      const url = `nats://${server.address}?timeout=${timeout}`;
      const started = await Promise.all(Object.entries(commands).map(([command, words]) => start(command, words, url)));
      // The evaluation has one connection more, for its runs.
      await untilConnected(monitor, started.length + 1, () => started.map((each) => each.said()));
      if (isGone) await server.kill();
      // Each has noticed it before it is told to end.
      if (isGone && timeout > 3) await untilSaid(started, /cannot be reached|was lost/);
      const began = Date.now();
      for (const each of started) end(each);
      const late: string[] = [];
      for (const each of started) {
        while (isThere(each.pid) && Date.now() - began < withinMs + 500) await sleep(20);
        if (isThere(each.pid)) late.push(`${each.command}: ${each.said()}`);
      }
      expect(late).toEqual([]);
      if (isGone) for (const each of started) expect(each.said(), each.command).toMatch(/cannot be reached|was lost/);
      if (name === "the servers are gone")
        for (const each of started) expect(each.said(), each.command).toMatch(/could not be reached for 3(\.0)? ?s/);
    },
  );

  /** By a parent of its own, which can be killed. */
  async function start(command: string, words: readonly string[], url: string): Promise<Started> {
    const number = count++;
    const home = join(place.home, `home-${number}`);
    const file = join(place.home, `said-${number}`);
    const output = openSync(file, "w");
    const script = '"$@" <&4 & echo $! >&3; wait $!';
    const parent = spawn("sh", ["-c", script, "sh", process.execPath, cli, ...words], {
      cwd: place.path,
      env: { ...place.env, HOME: home, COURSER_FLEET: url, COURSER_EXIT_WITH_PARENT: "1" },
      stdio: ["ignore", output, output, "pipe", command === "-b" ? "pipe" : openSync("/dev/null", "r")],
    });
    const pid = await new Promise<number>((resolve) =>
      parent.stdio[3]!.once("data", (data: Buffer) => resolve(Number(data.toString()))),
    );
    for (const each of [pid, parent.pid!]) guardChild(each, { leadsGroup: false });
    const started = { command, parent, pid, said: () => readFileSync(file, "utf8") };
    all.push(started);
    return started;
  }
});

async function untilSaid(started: readonly Started[], wanted: RegExp): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(50))
    if (started.every((each) => wanted.test(each.said()))) return;
}

async function untilConnected(monitor: number, count: number, said: () => string[]): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(100)) {
    const response = await fetch(`http://127.0.0.1:${monitor}/varz`);
    const { connections } = (await response.json()) as { connections: number };
    if (connections >= count) return sleep(500);
  }
  throw new Error(`not all commands have connected: ${said().join("\n")}`);
}

/** A zombie that nobody has waited for has ended. */
function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
