// `npm run long -- stress --runs N --concurrency C [--seed S]`: runs of the built CLI with faults of the model, the tools, the pipes,
// the disk, and signals. Each must end, with one result and its exit code where it could say them; leave nothing running; and keep
// what it has shown.
import { faultsOf } from "./faulted-run.ts";
import { randomRun } from "./random-run.ts";

export type Campaign = { runs: number; concurrency: number; seed: number };
/** `kinds`: of what went wrong around them. */
export type CampaignEnd = { faults: string[]; endings: Map<string, number>; kinds: Map<string, number> };

/** Runs of the same seed have the same faults, whatever runs beside them. */
export async function campaign(
  { runs, concurrency, seed }: Campaign,
  report: (done: number, end: CampaignEnd) => void = () => {},
): Promise<CampaignEnd> {
  const end: CampaignEnd = { faults: [], endings: new Map(), kinds: new Map() };
  let next = 0;
  let done = 0;
  const work = async () => {
    while (next < runs) {
      const run = randomRun(seed + next++);
      const { faults, ending } = await faultsOf(run).catch((error: Error) => ({
        faults: [error.stack ?? error.message],
        ending: "broken",
      }));
      end.faults.push(...faults.map((fault) => `${run.name}: ${fault}`));
      countIn(end.endings, ending);
      countIn(end.kinds, run.kind ?? "nothing");
      report(++done, end);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return end;
}

function countIn(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The most frequent first. */
export function listed(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.map(([name, count]) => `${name} ${count}`).join(", ");
}

export async function main(argv: readonly string[]): Promise<number> {
  const option = (name: string, otherwise: number) => {
    const at = argv.indexOf(`--${name}`);
    return at === -1 ? otherwise : Number(argv[at + 1]);
  };
  const chosen = {
    runs: option("runs", 60),
    concurrency: option("concurrency", 4),
    seed: option("seed", Date.now() % 1_000_000),
  };
  if (!Object.values(chosen).every((value) => Number.isInteger(value) && value >= 0)) {
    console.error("Usage: npm run long -- stress --runs N --concurrency C [--seed S]");
    return 2;
  }
  console.log(`seed ${chosen.seed}`);
  let told = 0;
  const { faults, endings, kinds } = await campaign(chosen, (done, end) => {
    for (const fault of end.faults.slice(told)) console.log(fault);
    told = end.faults.length;
    if (done % 100 === 0) console.log(`${done} runs, ${told} faults`);
  });
  console.log(`${chosen.runs} runs: ${faults.length} faults. With ${listed(kinds)}. Endings: ${listed(endings)}`);
  return faults.length === 0 ? 0 : 1;
}
