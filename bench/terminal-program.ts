// What the terminal costs as a program in a real pty: the first paint, a streamed answer, doing nothing, a long session.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../src/process/find-program.ts";
import { createWorkspace } from "../test/support/run-cli.ts";
import { openCli, openPty, type Pty } from "../test/terminal/pty.ts";
import { median } from "./measure.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export type ProgramFigures = {
  /** Beside `node -e 0` in a pty. */
  firstPaint: number;
  nodeMs: number;
  streamShare: number;
  idle: Idle;
  sessionMb: number;
  peers: { name: string; firstOutputMs: number; idle: Idle }[];
};

/** In five seconds: bytes written, wake-ups of the main thread. */
type Idle = { bytes: number; wakes: number };

export async function programFigures(rounds: number): Promise<ProgramFigures> {
  const workspace = createWorkspace({ "a.txt": "one line\n".repeat(200) });
  const script = (name: string, replies: unknown) => {
    const file = join(workspace.path, `../${name}.json`);
    writeFileSync(file, JSON.stringify(replies));
    return ["--force", "--trust", "--model", `script:${file}`];
  };
  try {
    const hello = script("hello", [{ text: "Hello." }]);
    const paints: number[] = [];
    const nodes: number[] = [];
    for (let round = 0; round < rounds; round++) {
      nodes.push(await untilEnd(() => openPty({ command: process.execPath, args: ["-e", "0"], env: workspace.env })));
      paints.push(await untilOutput(() => openCli(workspace, hello), "Ask, or type"));
    }
    return {
      firstPaint: median(paints) / median(nodes),
      nodeMs: median(nodes),
      streamShare: await streamShare((replies) => openCli(workspace, script("stream", replies))),
      idle: await idle(openCli(workspace, hello), "Ask, or type"),
      sessionMb: await sessionMegabytes((replies) => openCli(workspace, script("long", replies), { limitMs: 240_000 })),
      peers: await peerFigures(workspace.path),
    };
  } finally {
    workspace.remove();
  }
}

async function untilEnd(open: () => Pty): Promise<number> {
  const started = performance.now();
  await open().ended;
  return performance.now() - started;
}

async function untilOutput(open: () => Pty, wanted: string): Promise<number> {
  const started = performance.now();
  const pty = open();
  while (!pty.output().includes(wanted)) await new Promise((resolve) => setImmediate(resolve));
  const took = performance.now() - started;
  pty.kill();
  await pty.ended;
  return took;
}

/** Sixty deltas a second for five seconds: the processor time of the whole program beside the time that passed. */
async function streamShare(open: (replies: unknown) => Pty): Promise<number> {
  const words = "The server *answers* before `the file` is closed, so that **half of it** is read. ";
  const deltas = Array.from({ length: 300 }, (_, index) => [
    { text: words.slice((index * 8) % 72, ((index * 8) % 72) + 8) + (index % 40 === 39 ? "\n\n" : "") },
    { delayMs: 16 },
  ]);
  const pty = open([{ steps: deltas.flat() }]);
  try {
    await pty.waitFor("Ask, or type");
    await pause(1000);
    const from = { at: performance.now(), cpu: cpuMs(pty.pid) };
    pty.type("go\r");
    await pty.waitFor(/Done in/, { timeoutMs: 60_000 });
    return (cpuMs(pty.pid) - from.cpu) / (performance.now() - from.at);
  } finally {
    pty.kill();
    await pty.ended;
  }
}

async function idle(pty: Pty, ready: string | RegExp): Promise<Idle> {
  try {
    await pty.waitFor(ready, { timeoutMs: 60_000 });
    await pause(3000);
    const [bytes, wakes] = [pty.output().length, wakeUps(pty.pid)];
    await pause(5000);
    return { bytes: pty.output().length - bytes, wakes: wakeUps(pty.pid) - wakes };
  } finally {
    pty.kill();
    await pty.ended;
  }
}

/** Five thousand calls, each with its beginning and its end: what is in memory when they are over. */
async function sessionMegabytes(open: (replies: unknown) => Pty): Promise<number> {
  const calls = (reply: number) =>
    Array.from({ length: 50 }, (_, index) => ({
      name: "Read",
      args: { path: "a.txt", offset: 1 + ((reply + index) % 200), limit: 1 },
    }));
  const replies = Array.from({ length: 100 }, (_, reply) => ({ calls: calls(reply) }));
  const pty = open([...replies, { text: "All read." }]);
  try {
    await pty.waitFor("Ask, or type");
    pty.type("go\r");
    await pty.waitFor("All read.", { timeoutMs: 100_000 });
    await pause(1000);
    const rss = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pty.pid}/status`, "utf8"));
    return Number(rss?.[1] ?? Number.NaN) / 1024;
  } finally {
    pty.kill();
    await pty.ended;
  }
}

/** Other agents of the field, where they are installed: without a key they show their first screen, or how to log in. */
async function peerFigures(cwd: string): Promise<ProgramFigures["peers"]> {
  const found: ProgramFigures["peers"] = [];
  for (const name of ["pi", "codex", "opencode"]) {
    const command = findProgram(name, process.env);
    if (!command) continue;
    const open = () => openPty({ command, cwd, limitMs: 60_000 });
    const firstOutputMs = await untilOutput(open, "m");
    found.push({ name, firstOutputMs, idle: await idle(open(), /\S/) });
  }
  return found;
}

/** Linux tells it; elsewhere there is no number. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function wakeUps(pid: number): number {
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, "utf8");
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN);
}
