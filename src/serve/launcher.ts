// Starts hosts: for each run that has none, as long as there is room, a process of its own that outlives everybody.
import { mkdirSync } from "node:fs";
import { join, parse } from "node:path";
import { startDetached } from "../process/detached.ts";
import { readService, serviceFile } from "../store/service-file.ts";
import type { Fleet, Lease } from "./fleet.ts";

/** What it takes to start this program again. */
export type Launch = {
  configDir: string;
  env: NodeJS.ProcessEnv;
  /** How this program is started. */
  program: readonly string[];
  /** Most runs that have hosts at once. */
  most: number;
  /** Of a fleet whose runs are taken by workers, wherever they are: none is started here. */
  fleetUrl?: string;
};

/** A host must say that it is there within this time, and again and again. */
export const leaseMs = 15_000;
export const mostAtOnce = 8;

/** The run, where it is given, else all that there is room for. How many were started comes back. */
export async function startHosts(fleet: Fleet, launch: Launch, run?: string): Promise<number> {
  let started = 0;
  while (launch.fleetUrl === undefined) {
    const options = { worker: `pid ${process.pid}`, ttlMs: leaseMs, most: launch.most };
    const lease = await fleet.lease({ ...options, ...(run !== undefined && { run }) });
    if (!lease) return started;
    if (startHost(lease, launch) === undefined) {
      await fleet.release(lease, lease.position);
      return started;
    }
    started++;
    if (run !== undefined) return started;
  }
  return started;
}

/** Where no service watches over the queue, whoever ends a run sees to the next ones. */
export async function startHostsUnserved(fleet: Fleet, launch: Launch): Promise<number> {
  return readService(serviceFile(launch.configDir)) ? 0 : startHosts(fleet, launch);
}

function startHost({ run, token, position }: Lease, { configDir, env, program }: Launch): number | undefined {
  const words = [
    ...program,
    "worker",
    "start",
    "--fleet",
    "local",
    "--single-use",
    "--lease",
    `${run}:${position}:${token}`,
  ];
  return startDetached(words, { cwd: parse(process.execPath).root, env: detachedEnv(env), log: logFile(configDir) });
}

export function startService({ configDir, env, program }: Omit<Launch, "most">): number | undefined {
  const words = [...program, "serve", "--fleet", "local", "--until-idle"];
  return startDetached(words, { cwd: parse(process.execPath).root, env: detachedEnv(env), log: logFile(configDir) });
}

export function leaseOf(words: string): Lease | undefined {
  const [, run, position, token] = /^([\w-]+):(\d+):([\w-]+)$/.exec(words) ?? [];
  return run === undefined ? undefined : { run, token: token!, position: Number(position), ttlMs: leaseMs };
}

/** What is meant for this process alone stays here. */
function detachedEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { COURSER_EXIT_WITH_PARENT: _parent, ...rest } = env;
  return rest;
}

function logFile(configDir: string): string {
  mkdirSync(join(configDir, "runs"), { recursive: true, mode: 0o700 });
  return join(configDir, "runs", "hosts.log");
}
