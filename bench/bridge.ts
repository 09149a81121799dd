// What a hook script pays for the bridge, from its start to its end, beside a program that does nothing.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { interleave, median, type Program } from "./measure.ts";

export type BridgeTimes = { importMs: number; floorMs: number };

export async function bridgeTimes(folder: string, rounds: number): Promise<BridgeTimes> {
  const library = pathToFileURL(resolve(import.meta.dirname, "../dist/lib/hooks.js")).href;
  const script = join(folder, "hook.mjs");
  writeFileSync(script, `import ${JSON.stringify(library)};\n`);
  const program = (...args: string[]): Program => ({
    command: process.execPath,
    args,
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
  });
  const samples = await interleave({ floor: program("-e", "0"), script: program(script) }, rounds);
  const wall = (name: string) => median(samples[name]!.map((sample) => sample.wallMs));
  return { importMs: wall("script"), floorMs: wall("floor") };
}
