// The Glob tool in 50,000 files against bare `rg --files`: the first call of a fresh run, as the stream's own clock has it.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ripgrepPath } from "../src/agent/ripgrep.ts";
import { median, type Program, runOnce } from "./measure.ts";
import { makeLargeRepository } from "./peers/growth.ts";

type Place = { workspace: string; config: string; env: Record<string, string> };

export async function globRatio(cli: string, { workspace, config, env }: Place, rounds: number) {
  const files = join(workspace, "files");
  mkdirSync(files);
  try {
    makeLargeRepository(files);
    const script = join(config, "glob.json");
    writeFileSync(
      script,
      '[{ "calls": [{ "name": "Glob", "args": { "pattern": "**/file76.md" } }] }, { "text": "ok" }]',
    );
    const args = [cli, "-p", "--force", "--output-format", "stream-json", "--model", `script:${script}`, "go"];
    const bare: Program = { command: ripgrepPath(), args: ["--files"], cwd: files, env };
    const tool: Program = { command: process.execPath, args, cwd: files, env };
    const bareTimes: number[] = [];
    const toolTimes: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const { wallMs } = await runOnce(bare);
      const spent = callMs((await runOnce(tool)).stdout);
      if (round >= 0) bareTimes.push(wallMs);
      if (round >= 0) toolTimes.push(spent);
    }
    return { bareMs: median(bareTimes), ratio: median(toolTimes) / median(bareTimes) };
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
}

/** From the beginning of the call to its end. */
function callMs(stream: string): number {
  const lines = stream
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const at = (subtype: string) =>
    lines.find((line) => line.type === "tool_call" && line.subtype === subtype).timestamp_ms;
  return at("completed") - at("started");
}
