// A worker that waits for runs: how much memory it takes, on this machine's own fleet and on a server.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { spawnOwned } from "../test/support/at-exit.ts";
import { NatsServer, noNatsServer } from "../test/support/nats-server.ts";

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
