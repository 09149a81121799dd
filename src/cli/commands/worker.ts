// `worker start`: the host of one run. It has no terminal and no parent; what it has to say goes into the log of the run.
import { UserError } from "../../protocol/error-codes.ts";
import { hostRun } from "../../serve/host-run.ts";
import { leaseMs, leaseOf, startHostsUnserved } from "../../serve/launcher.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { watchForTheEnd } from "../shutdown.ts";
import { writeStderr } from "../stdout.ts";
import { launchOf, withFleet } from "./runs/context.ts";

export function startWorker(invocation: Invocation): Promise<number> {
  if (!invocation.line.flags.has("single-use"))
    throw new UserError("USAGE", `A worker takes one run. Type: ${invocation.name} worker start --single-use`);
  return withFleet(invocation, async (fleet) => {
    const given = flagText(invocation.line.flags, "lease");
    const launch = launchOf(invocation);
    const lease =
      given === undefined
        ? await fleet.lease({ worker: `pid ${process.pid}`, ttlMs: leaseMs, most: launch.most })
        : leaseOf(given);
    if (!lease) {
      if (given !== undefined) throw new UserError("USAGE", `--lease '${given}' is not a lease.`);
      writeStderr("No run waits for a worker.\n");
      return 0;
    }
    const abort = new AbortController();
    const watch = watchForTheEnd(abort, { env: invocation.env });
    try {
      await hostRun(fleet, lease, { program: launch.program, signal: abort.signal });
      await startHostsUnserved(fleet, launch);
    } finally {
      watch.stop();
    }
    return 0;
  });
}
