// Opens a fleet for who operates it: one on a server, since that of this machine has nothing to operate.
import { UserError } from "../../../protocol/error-codes.ts";
import { type FleetAdmin, openForOperator } from "../../../serve/engines/nats/index.ts";
import type { Fleet } from "../../../serve/fleet.ts";
import type { Invocation } from "../../main.ts";
import { fleetUrl } from "../runs/context.ts";

export async function withAdmin<T>(
  invocation: Invocation,
  work: (admin: FleetAdmin, fleet: Fleet) => Promise<T>,
): Promise<T> {
  const url = fleetUrl(invocation);
  if (url === undefined)
    throw new UserError(
      "USAGE",
      `'${invocation.name} fleet' is about a fleet on a NATS server: --fleet nats://…, or COURSER_FLEET. The runs of this machine: ${invocation.name} runs list`,
    );
  const { admin, fleet } = await openForOperator(url, invocation.env);
  try {
    return await work(admin, fleet);
  } finally {
    fleet.close();
  }
}
