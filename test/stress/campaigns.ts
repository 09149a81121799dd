// `npm run long -- campaigns [--runs N] [--concurrency C] [--seed S]`: all campaigns with faults in one command, N runs in all, and one
// line of totals: random faults (stress), every signal in every state (kill matrix), kills and forks (kill), workers that are killed and
// frozen (fleet), and runs that go on elsewhere.
import { continuedRuns } from "../serve/fleet-continued.ts";
import { stressFleet } from "../serve/fleet-processes.ts";
import { killRounds } from "../store/kill.ts";
import { numbersFrom } from "../support/long-script.ts";
import { noNatsServer } from "../support/nats-server.ts";
import { campaign, listed } from "./index.ts";
import { cells, killAll } from "./kill-matrix.ts";

/** What a campaign did, in words, and what was wrong. */
type Total = { name: string; runs: number; summary: string; faults: readonly string[] };

/** Faults are printed when they happen, since a campaign may be stopped before its end. */
const printedFaults = new Set<string>();

export async function main(argv: readonly string[]): Promise<number> {
  const { runs, concurrency, seed } = numbersFrom(argv, { runs: 400, concurrency: 4, seed: Date.now() % 1_000_000 });
  const shares = sharesOf(runs);
  const campaigns: (() => Promise<Total>)[] = [
    async () => {
      const { faults, kinds } = await campaign(
        { runs: shares.stress, concurrency, seed },
        reportProgress(500, "stress"),
      );
      return { name: `random faults, seed ${seed}`, runs: shares.stress, summary: listed(kinds), faults };
    },
    async () => {
      const chosen = Array.from({ length: shares.matrix }, (_, index) => cells[(index * 37) % cells.length]!);
      const faults = await killAll(chosen, concurrency);
      const states = new Set(chosen.map(({ state }) => state)).size;
      return { name: "signals", runs: shares.matrix, summary: `in ${states} states`, faults };
    },
    async () => {
      const { kills, forks, faults } = await killRounds(shares.kill, reportProgress(100, "kill"));
      return { name: "kill -9", runs: shares.kill, summary: `${kills} kills, ${forks} forks into one id`, faults };
    },
    () => fleetTotal(shares.fleet),
    async () => {
      const { losses, longestLog, faults } = await continuedRuns(
        { runs: shares.continued },
        reportProgress(10, "continued"),
      );
      const summary = `${listed(new Map(Object.entries(losses)))}; longest log ${Math.round(longestLog / 1024)} KiB`;
      return { name: "continued elsewhere", runs: shares.continued, summary, faults };
    },
  ];
  const totals: Total[] = [];
  for (const start of campaigns) {
    const total = await start();
    printFaults(total.name, total.faults);
    console.error(describeTotal(total));
    totals.push(total);
  }
  const sum = (count: (total: Total) => number) => totals.reduce((all, total) => all + count(total), 0);
  const faults = sum((total) => total.faults.length);
  console.log(`${sum((total) => total.runs)} runs, ${faults} faults: ${totals.map(describeTotal).join("; ")}`);
  return faults === 0 ? 0 : 1;
}

/** Most are cheap; a few need workers and leases. */
function sharesOf(runs: number) {
  const part = (share: number) => Math.max(1, Math.round(runs * share));
  const shares = { matrix: part(0.15), kill: part(0.08), fleet: part(0.05), continued: part(0.008) };
  return { stress: Math.max(0, runs - Object.values(shares).reduce((sum, each) => sum + each, 0)), ...shares };
}

async function fleetTotal(runs: number): Promise<Total> {
  if (noNatsServer) return { name: "fleet", runs: 0, summary: `skipped: ${noNatsServer}`, faults: [] };
  const options = {
    runs,
    kills: Math.ceil(runs / 10),
    freezes: Math.ceil(runs / 20),
    restarts: Math.ceil(runs / 200),
    leaseMs: 2000,
  };
  const { kills, freezes, restarts, lost, twice, zombieEvents, ephemeral } = await stressFleet(options);
  const wrong = Object.entries({ lost, twice, zombieEvents, ephemeral }).filter(([, count]) => count > 0);
  return {
    name: "fleet",
    runs,
    summary: `${kills} kills, ${freezes} freezes beyond a lease, ${restarts} restarts of the server`,
    faults: wrong.map(([name, count]) => `${name}: ${count}`),
  };
}

function reportProgress(count: number, name: string): (done: number, end: { faults: readonly string[] }) => void {
  return (done, { faults }) => {
    printFaults(name, faults);
    if (done % count === 0) console.error(`${name}: ${done} runs, ${faults.length} faults`);
  };
}

function printFaults(name: string, faults: readonly string[]): void {
  for (const fault of faults) {
    if (!printedFaults.has(fault)) console.log(`${name}: ${fault}`);
    printedFaults.add(fault);
  }
}

function describeTotal({ name, runs, summary, faults }: Total): string {
  return `${name}: ${runs} runs (${summary}), ${faults.length} faults`;
}
