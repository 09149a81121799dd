// What recording costs a run, what replaying one costs beside the run itself, and how large a recording is. Interleaved.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { interleave, median, type Program, runOnce } from "./measure.ts";

const cli = resolve(import.meta.dirname, "../dist/courser.cjs");

export type ReplayFigures = { recording: number; recordingCpu: number; replay: number; size: number; plainMs: number };

export async function replayFigures(
  { workspace, env }: { workspace: string; env: Record<string, string> },
  rounds: number,
): Promise<ReplayFigures> {
  writeFileSync(join(workspace, "a.txt"), "hello\n");
  const file = join(workspace, "..", "run.jsonl");
  const common = ["-p", "--force", "--output-format", "stream-json"];
  const run = (...args: string[]): Program => ({
    command: process.execPath,
    args: [cli, ...common, ...args, "read a.txt"],
    cwd: workspace,
    env,
  });
  const recorded = await runOnce(run("--model", "offline", "--record", file));
  const size = readFileSync(file).length / Buffer.byteLength(recorded.stdout);
  const samples = await interleave(
    {
      plain: run("--model", "offline"),
      recording: run("--model", "offline", "--record", `${file}.again`),
      replay: run("--model", `replay:${file}`),
    },
    rounds,
    { usage: true },
  );
  const middle = (name: string, of: "wallMs" | "cpuMs") => median(samples[name]!.map((sample) => sample[of]));
  const plainMs = middle("plain", "wallMs");
  return {
    recording: middle("recording", "wallMs") / plainMs,
    recordingCpu: middle("recording", "cpuMs") / middle("plain", "cpuMs"),
    replay: middle("replay", "wallMs") / plainMs,
    size,
    plainMs,
  };
}
