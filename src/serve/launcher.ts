// Starts a host for each run that has none, while there is room: a detached process that outlives its parent.
import { mkdirSync } from "node:fs";
import { join, parse } from "node:path";
import { startDetached } from "../process/detached.ts";
import { readService, serviceFile } from "../store/service-file.ts";
import { type Fleet, isLocal, type Lease } from "./fleet.ts";

export type Launch = {
  configDir: string;
  env: NodeJS.ProcessEnv;
  /** The command that starts our program. */
  program: readonly string[];
  /** The maximum number of runs that are hosted at once. */
  most: number;
  /** The address of a fleet with its own workers, in which case no host is started on this machine. */
  fleetUrl?: string;
};

/** How many milliseconds a lease lasts unless its host renews it. */
export const leaseMs = 15_000;
export const maxAtOnce = 8;

/** Starts a host for `run`, or for all runs that there is room for. Returns how many were started. */
export async function startHosts(fleet: Fleet, launch: Launch, run?: string): Promise<number> {
  let started = 0;
  while (isLocal(fleet)) {
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

/** Starts the next runs without a service: each process that ends a run does this. */
export async function startHostsUnserved(fleet: Fleet, launch: Launch): Promise<number> {
  return readService(serviceFile(launch.configDir)) ? 0 : startHosts(fleet, launch);
}

function startHost({ run, token, position }: Lease, launch: Launch): number | undefined {
  const lease = `${run}:${position}:${token}`;
  return startOwn(["worker", "start", "--fleet", "local", "--single-use", "--lease", lease], launch);
}

export function startService(launch: OwnProgram): number | undefined {
  return startOwn(["serve", "--fleet", "local", "--until-idle"], launch);
}

type OwnProgram = Omit<Launch, "most">;

/** Starts this program without the variables that are meant for this process alone. */
function startOwn(words: readonly string[], { configDir, env, program }: OwnProgram): number | undefined {
  const { COURSER_EXIT_WITH_PARENT: _parent, ...rest } = env;
  const folder = join(configDir, "runs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = { cwd: parse(process.execPath).root, env: rest, log: join(folder, "hosts.log") };
  return startDetached([...program, ...words], place);
}

export function leaseOf(words: string): Lease | undefined {
  const [, run, position, token] = /^([\w-]+):(\d+):([\w-]+)$/.exec(words) ?? [];
  return run === undefined ? undefined : { run, token: token!, position: Number(position), ttlMs: leaseMs };
}
