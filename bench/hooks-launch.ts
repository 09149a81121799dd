// A hook script in TypeScript, from the host's call to its answer, beside a program that does nothing.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { median } from "./measure.ts";

export async function launchRatio(
  { workspace, env }: { workspace: string; env: Record<string, string> },
  rounds: number,
): Promise<{ ratio: number; floorMs: number }> {
  const bin = join(workspace, "bin");
  mkdirSync(bin);
  for (const name of ["courser", "courser-hook"])
    symlinkSync(resolve(import.meta.dirname, `../dist/${name}.cjs`), join(bin, name));
  const place = { cwd: workspace, env: { ...env, PATH: [bin, env["PATH"]].join(delimiter) } };
  const payload = { hook_event_name: "preToolUse", tool_name: "Shell", tool_input: { command: "rm -rf /" } };
  const time = (program: string, args: string[], exit: number) => {
    const started = performance.now();
    const { status, stderr } = spawnSync(program, args, { ...place, input: JSON.stringify(payload) });
    if (status !== exit) throw new Error(`${program} ended with ${status}: ${stderr}`);
    return performance.now() - started;
  };
  time("courser", ["hooks", "init", "guard"], 0);
  const samples = { floor: [] as number[], script: [] as number[] };
  // The first run strips the types and is not counted.
  for (let round = -1; round < rounds; round++) {
    const floor = time(process.execPath, ["-e", "0"], 0);
    const script = time("./.hooks/guard.ts", ["--host", "cursor"], 2);
    if (round < 0) continue;
    samples.floor.push(floor);
    samples.script.push(script);
  }
  const floorMs = median(samples.floor);
  return { ratio: median(samples.script) / floorMs, floorMs };
}
