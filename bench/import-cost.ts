// What a program pays for importing one of the libraries, from its start to its end, beside a program that does nothing.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { interleave, median, type Program } from "./measure.ts";

export type ImportTimes = { importMs: number; floorMs: number };

/** `library`: its name in dist/lib. */
export async function importTimes(library: string, folder: string, rounds: number): Promise<ImportTimes> {
  const file = pathToFileURL(resolve(import.meta.dirname, `../dist/lib/${library}.js`)).href;
  const script = join(folder, "program.mjs");
  writeFileSync(script, `import ${JSON.stringify(file)};\n`);
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
