// `npm run long -- serve [--runs N] [--kills N] [--seconds S] [--timeout S]`: background runs while the service is killed at random. None may be
// lost, none run twice, each has one result.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isOver } from "../../src/serve/fleet.ts";
import { chanceOf } from "../support/chance.ts";
import { numbersFrom, underWatch } from "../support/long-script.ts";
import { TestService, until } from "./service-support.ts";

const chance = chanceOf("serve/stress");

export type StressReport = {
  runs: number;
  kills: number;
  lost: number;
  twice: number;
  results: number;
  /** How each run ended that did not finish. */
  unfinished: string[];
  maxAtOnce: number;
};

/** `seconds`: how long each of them works. `onStart` is given what tells how far it is. */
export async function stress(
  { runs, kills, seconds }: { runs: number; kills: number; seconds: number },
  onStart: (tell: () => string) => void = () => {},
): Promise<StressReport> {
  const service = new TestService();
  const { workspace, fleet } = service;
  const ids: string[] = [];
  let killed = 0;
  let maxAtOnce = 0;
  onStart(() => `${ids.length} of ${runs} runs started; ${killed} kills`);
  try {
    const script = (number: number) =>
      service.script([
        { calls: [{ name: "Shell", args: { command: `sleep ${seconds}; echo ${number} >> ran.log` } }] },
        { text: `run ${number}` },
      ]);
    let next = 0;
    const starter = async () => {
      while (next < runs) {
        const number = next++;
        const { stdout, stderr } = await workspace.run(["-b", "--force", "--model", script(number), `task ${number}`], {
          timeoutMs: 60_000,
        });
        if (!stdout.startsWith("run-")) throw new Error(`-b failed: ${stderr}`);
        ids.push(stdout.trim());
      }
    };
    const killer = async () => {
      while (killed < kills) {
        await sleep(100 + chance() * 900);
        if (service.killAny()) killed++;
        else if (ids.length === runs && (await allOver())) return;
      }
    };
    const allOver = async () => (await fleet.runs({ limit: runs * 2 })).every(({ state }) => isOver(state));
    const watching = setInterval(async () => {
      maxAtOnce = Math.max(maxAtOnce, (await fleet.waiting()).hosted);
    }, 50);
    await Promise.all([starter(), starter(), killer()]);
    await until(allOver, "all runs to be over", 60_000 + runs * 2000);
    clearInterval(watching);
    const ran = existsSync(join(workspace.path, "ran.log"))
      ? readFileSync(join(workspace.path, "ran.log"), "utf8").split("\n").filter(Boolean)
      : [];
    const unfinished: string[] = [];
    for (const id of ids) {
      const log = (await fleet.entries(id, 0, 1000)).map(({ entry }) => entry);
      const run = await fleet.run(id);
      if (log.filter(({ type }) => type === "result").length === 1 && run?.state === "finished") continue;
      unfinished.push(`${id} ${run?.state}: ${log.map((entry) => JSON.stringify(entry)).join("\n")}`);
    }
    return {
      runs,
      kills: killed,
      lost: runs - new Set(ran).size,
      twice: ran.length - new Set(ran).size,
      results: runs - unfinished.length,
      unfinished,
      maxAtOnce,
    };
  } finally {
    await service.remove();
  }
}

export async function main(argv: readonly string[]): Promise<number> {
  const { timeout, ...options } = numbersFrom(argv, { runs: 200, kills: 5, seconds: 2, timeout: 0 });
  let tell = () => "starting";
  const report = await underWatch(
    () =>
      stress(options, (how) => {
        tell = how;
      }),
    { tell: () => tell(), limitSeconds: timeout || 180 + options.runs * (2 + options.seconds) },
  );
  console.log(JSON.stringify(report));
  return report.lost + report.twice === 0 && report.results === report.runs ? 0 : 1;
}
