// `npm run long -- batch [--runs N] [--concurrency C] [--kills K] [--timeout S]`: a long batch on this machine, killed again and again. Each line has one
// result, no run was begun twice, and the memory of the program that carries it out stays flat.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { spawnOwned } from "../support/at-exit.ts";
import { numbersFrom, underWatch } from "../support/long-script.ts";
import { cli } from "../support/run-cli.ts";
import { beginnings, TestService } from "./service-support.ts";

export async function main(argv: readonly string[]): Promise<number> {
  const { timeout, ...options } = numbersFrom(argv, { runs: 1000, concurrency: 8, kills: 3, timeout: 0 });
  let tell = () => "starting";
  const watch = { tell: () => tell(), limitSeconds: timeout || 120 + options.runs };
  return underWatch(
    () =>
      longBatch(options, (how) => {
        tell = how;
      }),
    watch,
  );
}

type LongBatch = { runs: number; concurrency: number; kills: number };

/** How the script ends. */
async function longBatch(
  { runs, concurrency, kills }: LongBatch,
  onStart: (tell: () => string) => void,
): Promise<number> {
  const service = new TestService();
  const { workspace } = service;
  try {
    const lines = Array.from({ length: runs }, (_, index) => ({ id: index, prompt: "hello", model: "offline" }));
    const input = workspace.file("tasks.jsonl", lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const output = join(workspace.path, "results.jsonl");
    const startedAt = Date.now();
    const peaks: number[] = [];
    onStart(() => `${countLines(output)} of ${runs} results; ${peaks.length} kills`);
    for (let killsLeft = kills; ; killsLeft--) {
      const args = [cli, "batch", input, "--output", output, "--concurrency", String(concurrency), "--force"];
      const child = spawnOwned(process.execPath, args, { cwd: workspace.path, env: workspace.env, stdio: "ignore" });
      const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
      const goal = killsLeft > 0 ? Math.floor((runs * (peaks.length + 1)) / (kills + 1)) : runs + 1;
      const peak = await watched(child.pid!, ended, () => countLines(output) >= goal);
      peaks.push(peak.kB);
      if (!peak.isOver) child.kill("SIGKILL");
      const code = await ended;
      console.log(
        `${countLines(output)} results, ${Math.round(peak.kB / 1024)} MB at most, ${peak.isOver ? `exit ${code}` : "killed"}`,
      );
      if (peak.isOver) break;
    }
    const results = readFileSync(output, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; run: string; outcome: string });
    const twice = results.length - new Set(results.map(({ id }) => id)).size;
    let begunTwice = 0;
    for (const { run } of results) if ((await beginnings(service.fleet, run)) !== 1) begunTwice++;
    const failed = results.filter(({ outcome }) => outcome !== "success").length;
    const seconds = (Date.now() - startedAt) / 1000;
    console.log(
      `${results.length} of ${runs} lines, ${twice} twice, ${begunTwice} begun twice, ${failed} failed; ${seconds.toFixed(0)} s, ${((seconds * 1000) / runs).toFixed(0)} ms a run, at most ${Math.round(Math.max(...peaks) / 1024)} MB`,
    );
    return results.length === runs && twice + begunTwice + failed === 0 ? 0 : 1;
  } finally {
    await service.remove();
  }
}

/** The most memory that it had, until it is over or `isSo`. */
async function watched(
  pid: number,
  ended: Promise<unknown>,
  isSo: () => boolean,
): Promise<{ kB: number; isOver: boolean }> {
  let kB = 0;
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver && !isSo()) {
    if (existsSync(`/proc/${pid}/status`))
      kB = Math.max(kB, Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0));
    await sleep(100);
  }
  return { kB, isOver };
}

function countLines(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}
