// A worker: how much memory it takes while it waits, on this machine's own fleet and on a server, and what a run costs it beside the
// same run with -p.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newRun } from "../src/serve/new-run.ts";
import { openFleet } from "../src/serve/open-fleet.ts";
import { spawnOwned } from "../test/support/at-exit.ts";
import { freePort } from "../test/support/free-port.ts";
import { NatsServer, noNatsServer } from "../test/support/nats-server.ts";
import { median } from "./measure.ts";

type Place = { workspace: string; env: Record<string, string> };

/** Megabytes, two seconds after it is ready. `server`: undefined where there is no nats-server. */
export async function workerFigures(cli: string, place: Place): Promise<{ own: number; server?: number }> {
  const own = await idleMegabytes(cli, place, []);
  if (noNatsServer) return { own };
  const server = await NatsServer.start();
  try {
    return { own, server: await idleMegabytes(cli, place, ["--fleet", server.url("bench")]) };
  } finally {
    await server.remove();
  }
}

async function idleMegabytes(cli: string, { workspace, env }: Place, args: readonly string[]): Promise<number> {
  const worker = spawnOwned(process.execPath, [cli, "worker", "start", ...args], {
    cwd: workspace,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      worker.stderr!.once("data", () => resolve());
      worker.once("exit", (code) => reject(new Error(`the worker ended with ${code}`)));
    });
    await sleep(2000);
    return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${worker.pid}/status`, "utf8"))![1]) / 1024;
  } finally {
    worker.removeAllListeners("exit");
    const gone = new Promise((resolve) => worker.once("exit", resolve));
    worker.kill("SIGTERM");
    await gone;
  }
}

export type WorkerCost = {
  ratio: number;
  plainMs: number;
  serverMs: number;
  serverMessages: number;
  serverBytes: number;
};

const runsInRound = 4;

/**
 * Processor time of a run of five reads and five commands: that of the worker and all that it starts, beside `-p` and all that it starts.
 * And what the run costs the server. Undefined: there is none here.
 */
export async function workerCost(cli: string, place: Place, rounds: number): Promise<WorkerCost | undefined> {
  if (noNatsServer) return undefined;
  const { workspace, env } = place;
  const script = join(workspace, "ten-calls.json");
  // Each call is another one: a model that repeats itself is stopped.
  const steps = Array.from({ length: 10 }, (_, index) =>
    index % 2 === 0
      ? { name: "Read", args: { path: script, limit: index + 1 } }
      : { name: "Shell", args: { command: `echo ${index}; ls -la; git status` } },
  );
  writeFileSync(script, JSON.stringify([...steps.map((step) => ({ calls: [step] })), { text: "done" }]));
  const monitor = await freePort();
  const server = await NatsServer.start({ config: `http: "127.0.0.1:${monitor}"` });
  const fleet = await openFleet(server.url(), { configDir: "/nowhere", env: {} });
  const worker = spawnOwned(process.execPath, [cli, "worker", "start", "--fleet", server.url()], {
    cwd: workspace,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  // Starts `-p` whenever it is told to: what its children used is its own figure.
  const shell = spawnOwned("sh", ["-c", 'while read line; do "$@" >&2; echo; done', "sh", ...plainWords(cli, script)], {
    cwd: workspace,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const plainRun = async () => {
    shell.stdin!.write("\n");
    await new Promise((resolve) => shell.stdout!.once("data", resolve));
  };
  const fleetRun = async () => {
    const request = { workspace, model: `script:${script}`, force: true };
    const { id } = await fleet.enqueue(newRun({ cli: "courser", prompt: { text: "go" }, request }));
    for await (const { entry } of fleet.follow(id, 0, AbortSignal.timeout(60_000)))
      if (entry.type === "result" && entry.end.outcome !== "finished") throw new Error(entry.end.text);
  };
  const costOf = async (pid: number, run: () => Promise<void>) => {
    const before = cpuMs(pid);
    for (let number = 0; number < runsInRound; number++) await run();
    await sleep(300); // until the last child was waited for
    return (cpuMs(pid) - before) / runsInRound;
  };
  try {
    await new Promise((resolve) => worker.stderr!.once("data", resolve));
    await Promise.all([plainRun(), fleetRun()]);
    const plain: number[] = [];
    const ratios: number[] = [];
    const before = { ...(await messagesOf(monitor)), ms: cpuMs(server.pid!) };
    for (let round = 0; round < rounds; round++) {
      plain.push(await costOf(shell.pid!, plainRun));
      ratios.push((await costOf(worker.pid!, fleetRun)) / plain.at(-1)!);
    }
    const after = { ...(await messagesOf(monitor)), ms: cpuMs(server.pid!) };
    const perRun = (name: keyof typeof after) => (after[name] - before[name]) / (rounds * runsInRound);
    return {
      ratio: median(ratios),
      plainMs: median(plain),
      serverMs: perRun("ms"),
      serverMessages: perRun("messages"),
      serverBytes: perRun("stored"),
    };
  } finally {
    shell.stdin!.end();
    worker.kill("SIGKILL");
    fleet.close();
    await server.remove();
  }
}

function plainWords(cli: string, script: string): string[] {
  return [
    process.execPath,
    cli,
    "-p",
    "--force",
    "--output-format",
    "stream-json",
    "--model",
    `script:${script}`,
    "go",
  ];
}

/** Of a process and of the children that it has waited for. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]) * 10, 0);
}

async function messagesOf(monitor: number): Promise<{ messages: number; stored: number }> {
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${monitor}/${path}`)).json();
  const [{ in_msgs, out_msgs }, { bytes }] = await Promise.all([read("varz"), read("jsz")]);
  return { messages: in_msgs + out_msgs, stored: bytes };
}
