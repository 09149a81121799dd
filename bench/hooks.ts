// A hundred hooks on one event: what they cost beside the slowest of them, and beside bare spawning.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createHooks } from "../src/agent/hooks/index.ts";
import { createProcessRunner } from "../src/agent/process.ts";
import type { Hook } from "../src/store/hook-files.ts";
import { median } from "./measure.ts";

export type HookTimes = { manyMs: number; slowestMs: number; spawnMs: number; ratio: number };

const slowest = "sleep 0.5";

/** `ratio`: over what they may cost, 1.5 times the slowest alone and the time of bare spawning. */
export async function hookTimes(folder: string, rounds: number, count = 100): Promise<HookTimes> {
  mkdirSync(folder, { recursive: true });
  const commands = Array.from({ length: count }, (_, index) => (index === 0 ? slowest : "cat >/dev/null"));
  const samples = { many: [] as number[], slowest: [] as number[], spawn: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    const times = {
      many: await timed(() => fire(folder, commands)),
      slowest: await timed(() => fire(folder, [slowest])),
      spawn: await timed(() => Promise.all(commands.slice(1).map((command) => spawned(folder, command)))),
    };
    if (round < 0) continue;
    for (const [name, ms] of Object.entries(times)) samples[name as keyof typeof samples].push(ms);
  }
  const [manyMs, slowestMs, spawnMs] = [median(samples.many), median(samples.slowest), median(samples.spawn)];
  return { manyMs, slowestMs, spawnMs, ratio: manyMs / (1.5 * slowestMs + spawnMs) };
}

async function fire(folder: string, commands: readonly string[]): Promise<void> {
  const hooks = commands.map(
    (command, index): Hook => ({
      event: "preToolUse",
      format: "cursor",
      level: "user",
      file: "hooks.json",
      entry: `hooks.preToolUse[${index}]`,
      cwd: folder,
      command,
      loopLimit: 5,
      failClosed: true,
    }),
  );
  const session = {
    sessionId: "s",
    model: "m",
    version: "1",
    workspace: folder,
    roots: [],
    transcriptPath: null,
    userEmail: null,
    mode: "default",
  };
  const fired = createHooks({ hooks, session, processes: createProcessRunner(), warn: () => {} });
  const fields = { tool_name: "Shell", tool_input: { command: "ls" }, tool_use_id: "c", cwd: folder };
  const { permission } = await fired.fire("preToolUse", fields, { signal: new AbortController().signal });
  if (permission !== undefined) throw new Error(`a hook of the benchmark failed: ${permission}`);
}

function spawned(cwd: string, command: string): Promise<void> {
  const child = spawn("sh", ["-c", command], { cwd, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end("{}");
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve());
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
