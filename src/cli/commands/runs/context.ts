// Opens the fleet for commands about background runs, and finds a run by name.
import { UserError } from "../../../protocol/error-codes.ts";
import { readAddress, usualTimeoutMs, withoutLogin } from "../../../serve/engines/nats/address.ts";
import type { Fleet, RunRecord } from "../../../serve/fleet.ts";
import { type Launch, maxAtOnce } from "../../../serve/launcher.ts";
import { openFleet } from "../../../serve/open-fleet.ts";
import { configDir } from "../../../store/config-dir.ts";
import { flagText } from "../../flags.ts";
import { watchFleet } from "../../fleet-watch.ts";
import type { Invocation } from "../../main.ts";

/** Takes `--fleet`, else COURSER_FLEET. Undefined means this machine's own fleet, as does `local`. */
export function fleetUrl({ line: { flags }, env }: Pick<Invocation, "line" | "env">): string | undefined {
  const fleetAddress = flagText(flags, "fleet") ?? env["COURSER_FLEET"];
  return fleetAddress === "" || fleetAddress === "local" ? undefined : fleetAddress;
}

export function launchOf(invocation: Pick<Invocation, "line" | "env">): Launch {
  const { env } = invocation;
  const url = fleetUrl(invocation);
  const program = [process.execPath, process.argv[1]!];
  return { configDir: configDir(env), env, program, most: maxAtOnce, ...(url !== undefined && { fleetUrl: url }) };
}

/** How long a service or a worker tolerates an outage: longer than a user at a terminal, since it acts for others. */
const serversMs = 3_600_000;

/**
 * Closes the fleet after the work. `end` is aborted when a remote fleet was unreachable for too long: the work may still report
 * what it knows, then it is stopped.
 */
export async function withFleet<T>(
  invocation: Invocation,
  work: (fleet: Fleet, end: AbortSignal) => Promise<T>,
  { isServer = false } = {},
): Promise<T> {
  const { env } = invocation;
  const url = fleetUrl(invocation);
  const fleet = await openFleet(url, { configDir: configDir(env), env });
  const timeoutMs =
    (url === undefined ? undefined : readAddress(url, env).timeoutMs) ?? (isServer ? serversMs : usualTimeoutMs);
  const watch = watchFleet(fleet, { where: withoutLogin(url ?? "local"), timeoutMs, env });
  try {
    return await watch.bound(work(fleet, watch.signal));
  } finally {
    watch.stop();
    fleet.close();
  }
}

/** Finds a run by its id, a prefix of it, or the id of its agent. Without a word, returns the newest. */
export async function chosenRun(fleet: Fleet, words: readonly string[], { name }: Invocation): Promise<RunRecord> {
  const [wanted] = words;
  const exact = wanted === undefined ? undefined : await fleet.run(wanted);
  if (exact) return exact;
  const all = await fleet.runs({ limit: 1000 });
  if (wanted === undefined) {
    if (all[0]) return all[0];
    throw new UserError("RUN_NOT_FOUND", `There are no background runs. To start one: ${name} -b "…"`);
  }
  const plain = wanted.replace(/^(run|bc)-/, "");
  const found = all.filter(({ id, agent }) => id.startsWith(`run-${plain}`) || agent === wanted);
  // An agent's id refers to its newest run.
  if (found.length > 0 && (found[0]!.agent === wanted || (found.length === 1 && plain.length >= 4))) return found[0]!;
  const why = found.length > 1 ? `${found.length} runs start with ${wanted}` : `no run starts with ${wanted}`;
  throw new UserError("RUN_NOT_FOUND", `Run not found: ${why}. To list the runs: ${name} runs list`);
}
