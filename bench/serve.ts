// Background runs and the service: how soon -b is back, what an idle service costs, whether many readers all get everything.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteFleet } from "../src/serve/engines/sqlite.ts";
import type { Lease, LocalFleet, RunRecord } from "../src/serve/fleet.ts";
import { newRun } from "../src/serve/new-run.ts";
import { trust } from "../src/store/trust.ts";
import { interleave, median, type Program, runOnce } from "./measure.ts";

type Place = { workspace: string; config: string; env: Record<string, string> };
type Info = { pid: number; port: number; token: string };

export type ServeFigures = {
  /** Times `node -e 0`. */
  served: number;
  unserved: number;
  floorMs: number;
  idleMb: number;
  /** Megabytes after a thousand runs that a page followed. */
  usedMb: number;
  /** Milliseconds of processor time in three idle seconds, the quietest of four times. */
  idleCpuMs: number;
  /** Of 50 readers, how many got every event, in order, once. */
  wholeReaders: number;
};

export async function serveFigures(cli: string, where: Place, rounds: number): Promise<ServeFigures> {
  trust(where.config, where.workspace);
  const script = join(where.workspace, "script.json");
  writeFileSync(script, '[{ "text": "ok" }]');
  const program = (...args: string[]): Program => ({
    command: process.execPath,
    args,
    cwd: where.workspace,
    env: where.env,
  });
  const programs = { floor: program("-e", "0"), background: program(cli, "-b", "--model", `script:${script}`, "go") };
  const wall = (samples: { wallMs: number }[]) => median(samples.map(({ wallMs }) => wallMs));
  const fleet = openSqliteFleet(join(where.config, "runs/runs.db"));
  const quiet = async () => {
    while ((await fleet.waiting()).hosted + (await fleet.waiting()).count > 0) await sleep(50);
  };

  // Each -b begins without a service, and starts one. The first is not counted.
  const without: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const floor = await runOnce(programs.floor);
    const background = await runOnce(programs.background);
    if (round >= 0) without.push(background.wallMs / floor.wallMs);
    await quiet();
    await stopService(where);
  }
  const service = spawn(process.execPath, [cli, "serve"], { cwd: where.workspace, env: where.env, stdio: "ignore" });
  try {
    while (infoOf(where)?.pid !== service.pid) await sleep(20);
    const withService = await interleave(programs, rounds);
    await quiet();
    const floorMs = wall(withService["floor"]!);
    const info = infoOf(where)!;
    await sleep(1000);
    const idleCpuMs = await idleCpu(info.pid);
    const idleMb = megabytesOf(info.pid);
    await thousandRuns(where, info, fleet);
    const usedMb = megabytesOf(info.pid);
    return {
      served: wall(withService["background"]!) / floorMs,
      unserved: median(without),
      floorMs,
      idleMb,
      idleCpuMs,
      usedMb,
      wholeReaders: await readTogether(where, info, fleet),
    };
  } finally {
    service.kill("SIGTERM");
    fleet.close();
  }
}

function megabytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Runs of twenty events each, as hosts write them, while a page hears of all of them and lists are asked for. */
async function thousandRuns({ workspace }: Place, { port, token }: Info, fleet: LocalFleet): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const stop = new AbortController();
  const page = await fetch(`http://127.0.0.1:${port}/api/stream`, { headers, signal: stop.signal });
  const reading = page.body!.pipeTo(new WritableStream()).catch(() => {});
  for (let number = 0; number < 1000; number++) {
    const { lease } = await leasedRun(fleet, workspace);
    let position = lease.position;
    for (let at = 0; at < 20; at++)
      position = await fleet.append(lease, [{ type: "event", event: { type: "text_end", text: `${at} ` } }], position);
    await fleet.finish(lease, { outcome: "finished", text: "done", durationMs: 1, turns: 1 }, position, 0);
    if (number % 20 === 0) await (await fetch(`http://127.0.0.1:${port}/api/runs`, { headers })).arrayBuffer();
  }
  stop.abort();
  await reading;
  await sleep(3000);
}

function infoOf({ config }: Place): Info | undefined {
  const file = join(config, "serve.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Info) : undefined;
}

/** The one that -b started in this home. */
async function stopService(where: Place): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!infoOf(where) && Date.now() < deadline) await sleep(20);
  const { pid } = infoOf(where) ?? { pid: 0 };
  if (!existsSync(`/proc/${pid}/environ`)) return;
  if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${where.env["HOME"]}\0`)) return;
  process.kill(pid, "SIGTERM");
  while (infoOf(where)?.pid === pid) await sleep(20);
}

/** The engine tidies its memory once, a while after it was busy. */
async function idleCpu(pid: number): Promise<number> {
  const spans: number[] = [];
  for (let round = 0; round < 4; round++) {
    const before = cpuMs(pid);
    await sleep(3000);
    spans.push(cpuMs(pid) - before);
  }
  return Math.min(...spans);
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** 50 readers of one run while 5,000 events are written. */
async function readTogether({ workspace }: Place, { port, token }: Info, fleet: LocalFleet): Promise<number> {
  const events = 5000;
  const { run, lease } = await leasedRun(fleet, workspace);
  const path = `/v1/agents/${run.agent}/runs/${run.id}/stream`;
  const readers = Array.from({ length: 50 }, () => readNumbers(path, port, token));
  let position = lease.position;
  for (let at = 0; at < events; at += 50) {
    const batch = Array.from({ length: 50 }, (_, index) => ({
      type: "event" as const,
      event: { type: "text" as const, text: `${at + index} ` },
    }));
    position = await fleet.append(lease, batch, position);
    await sleep(1);
  }
  await fleet.finish(lease, { outcome: "finished", text: "", durationMs: 1, turns: 1 }, position, 0);
  const expected = Array.from({ length: events }, (_, index) => `${index} `).join("");
  return (await Promise.all(readers)).filter((text) => text === expected).length;
}

/** The service may be quicker: then another one is tried. */
async function leasedRun(fleet: LocalFleet, workspace: string): Promise<{ run: RunRecord; lease: Lease }> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const run = await fleet.enqueue(newRun({ cli: "courser", request: { workspace }, prompt: { text: "read" } }));
    const lease = await fleet.lease({ worker: "bench", ttlMs: 600_000, run: run.id });
    if (lease) return { run, lease };
    await fleet.cancel(run.id, "not needed");
  }
  throw new Error("the service took every run that the bench was about to write");
}

function readNumbers(path: string, port: number, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    const asked = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve(
          [...text.matchAll(/^event: assistant\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!).text).join(""),
        ),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}
