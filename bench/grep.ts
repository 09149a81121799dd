// The Grep tool against bare ripgrep, on a generated tree: how much the tool adds to the search itself.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ripgrepPath } from "../src/agent/ripgrep.ts";
import { grep } from "../src/agent/tools/grep.ts";
import { toolContext } from "../test/support/tool-context.ts";

export type GrepRatio = { files: number; matches: number; bareMs: number; toolMs: number; ratio: number };

/** Medians of interleaved runs, so that whatever else the machine does falls on both. */
export async function grepRatio(files = 20_000, rounds = 15): Promise<GrepRatio> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "courser-grep-")));
  try {
    makeTree(root, files);
    const ripgrep = ripgrepPath();
    const context = toolContext(root);
    const args = grep.parse({ pattern: "needle_[0-9]+" });
    const bareTimes: number[] = [];
    const toolTimes: number[] = [];
    let matches = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const runBare = async () => bareTimes.push(await timed(() => bareRun(ripgrep, root)));
      const runTool = async () => {
        const spent = await timed(async () => {
          const { outcome } = await grep.run(args, context);
          matches = (outcome.value as any).workspaceResults[root].content.totalMatchedLines;
        });
        toolTimes.push(spent);
      };
      // In turns first, since what runs second meets other things on the machine.
      for (const run of round % 2 === 0 ? [runBare, runTool] : [runTool, runBare]) await run();
    }
    await context.processes.endAll();
    // The first round fills the caches of the disk and of the compiler.
    const [bareMs, toolMs] = [median(bareTimes.slice(1)), median(toolTimes.slice(1))];
    return { files, matches, bareMs, toolMs, ratio: toolMs / bareMs };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function makeTree(root: string, files: number): void {
  const filler = "const value = compute(first, second);\nreturn value;\n".repeat(20);
  for (let index = 0; index < files; index += 1) {
    const folder = join(root, `group${Math.floor(index / 1000)}`, `part${Math.floor(index / 50)}`);
    if (index % 50 === 0) mkdirSync(folder, { recursive: true });
    const needle = index % 20 === 0 ? `const needle_${index} = true;\n` : "";
    writeFileSync(join(folder, `file${index}.ts`), filler + needle);
  }
}

function bareRun(ripgrep: string, root: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(ripgrep, ["-n", "needle_[0-9]+", "./"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.resume();
    child.once("error", reject);
    child.once("close", () => resolve());
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!;
}
