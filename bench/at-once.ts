// Twelve runs at once in one workspace, with one store, beside the same twelve one after the other: the processor time of all.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { median, processorTime } from "./measure.ts";

type Place = { workspace: string; config: string; env: Record<string, string> };

const cli = resolve(import.meta.dirname, "../dist/courser.cjs");
const count = 12;

/** `ratio`: at once to one after the other. Throws where a run fails, for a lock or anything else. */
export async function atOnceFigures(place: Place, rounds: number): Promise<{ ratio: number; soloMs: number }> {
  const script = join(place.config, "script.json");
  writeFileSync(
    script,
    JSON.stringify([
      { text: "I look.", calls: [{ name: "LS", args: {} }] },
      { calls: [{ name: "Shell", args: { command: "echo hello" } }] },
      { calls: [{ name: "Write", args: { path: "made.txt", contents: "made\n" } }] },
      { text: "Done." },
    ]),
  );
  const args = [cli, "-p", "--force", "--output-format", "json", "--model", `script:${script}`, "go"];
  const one = () => processorTime({ command: process.execPath, args, cwd: place.workspace, env: place.env });
  await one();
  const ratios: number[] = [];
  const solos: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let apart = 0;
    for (let run = 0; run < count; run++) apart += await one();
    const together = await Promise.all(Array.from({ length: count }, one));
    ratios.push(together.reduce((sum, ms) => sum + ms, 0) / apart);
    solos.push(apart / count);
  }
  return { ratio: median(ratios), soloMs: median(solos) };
}
