// The start of a whole run with a fleet and without: `-p`, a program that has a connection, `-b --fleet`; the same offline model,
// one after the other, medians. A run has begun when whoever asked for it has its `init`.
import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "../src/serve/fleet.ts";
import { newRun } from "../src/serve/new-run.ts";
import { openFleet } from "../src/serve/open-fleet.ts";
import { spawnOwned } from "../test/support/at-exit.ts";
import { NatsServer, noNatsServer } from "../test/support/nats-server.ts";
import { median, runOnce } from "./measure.ts";

type Place = { workspace: string; env: Record<string, string> };

/** Milliseconds. */
export type FleetStart = {
  /** From the start of `-p`. */
  plain: number;
  /** From the call that sends the run. */
  sent: number;
  /** From the start of `-b --fleet`. */
  command: number;
};

const prompt = "hello";
const maxMs = 60_000;

/** Undefined: there is no server here. */
export async function fleetStart(cli: string, place: Place, rounds: number): Promise<FleetStart | undefined> {
  if (noNatsServer) return undefined;
  const server = await NatsServer.start();
  const url = server.url("start");
  const { workspace, env } = place;
  const fleet = await openFleet(url, { configDir: "/nowhere", env: {} });
  const worker = spawnOwned(process.execPath, [cli, "worker", "start", "--fleet", url], {
    cwd: workspace,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    await new Promise((resolve) => worker.stderr!.once("data", resolve));
    const run = (args: readonly string[]) =>
      runOnce({
        command: process.execPath,
        args: [cli, ...args, "--force", "--model", "offline", prompt],
        cwd: workspace,
        env,
      });
    const ways: Record<keyof FleetStart, () => Promise<unknown>> = {
      plain: async () => (await run(["-p", "--output-format", "stream-json"])).firstLineMs,
      sent: () =>
        fleet.enqueue(
          newRun({ cli: "courser", prompt: { text: prompt }, request: { workspace, model: "offline", force: true } }),
        ),
      command: () => run(["-b", "--fleet", url, "--source", "none"]),
    };
    const times: Record<keyof FleetStart, number[]> = { plain: [], sent: [], command: [] };
    // The first of each is not counted.
    for (let round = 0; round <= rounds; round++) {
      const plain = (await ways.plain()) as number;
      const [sent, command] = [await untilInit(fleet, ways.sent), await untilInit(fleet, ways.command)];
      if (round === 0) continue;
      for (const [name, ms] of Object.entries({ plain, sent, command })) times[name as keyof FleetStart].push(ms);
    }
    return { plain: median(times.plain), sent: median(times.sent), command: median(times.command) };
  } finally {
    worker.kill("SIGKILL");
    fleet.close();
    await server.remove();
  }
}

/** The run that begins next; the one after it is not begun before this one is over and the worker waits again. */
async function untilInit(fleet: Fleet, begin: () => Promise<unknown>): Promise<number> {
  const from = await fleet.position();
  const startedAt = performance.now();
  const begun = begin();
  let ms = Number.NaN;
  for await (const { entry } of fleet.followAll(from, AbortSignal.timeout(maxMs))) {
    if (entry.type === "event" && entry.event.type === "init") ms = performance.now() - startedAt;
    if (entry.type === "result") break;
  }
  await begun;
  await sleep(100);
  return ms;
}
