// Twelve runs at once in one workspace, with one store, beside the same twelve one after the other: the processor time of all.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { median } from "./measure.ts";

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
  const one = () =>
    processorTime(place, ["-p", "--force", "--output-format", "json", "--model", `script:${script}`, "go"]);
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

/** Of the run and of all that it waited for. */
function processorTime({ workspace, env }: Place, args: readonly string[]): Promise<number> {
  const timed = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null';
  const child = spawn("bash", ["-c", timed, "run", process.execPath, cli, ...args], { cwd: workspace, env });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => {
      const [, user, system] = /([\d.]+) ([\d.]+)\s*$/.exec(said) ?? [];
      if (exit === 0) settle((Number(user) + Number(system)) * 1000);
      else reject(new Error(`one of the runs ended with ${exit}: ${said.slice(0, 500)}`));
    });
  });
}
