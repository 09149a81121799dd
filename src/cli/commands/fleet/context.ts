// Opens a fleet on a server for its operator. The local fleet has nothing to operate.
import { usageError } from "../../../protocol/error-codes.ts";
import { type OperatedFleet, openNatsFleet } from "../../../serve/engines/nats/index.ts";
import type { Invocation } from "../../main.ts";
import { fleetUrl } from "../runs/context.ts";

export async function withAdmin<T>(invocation: Invocation, work: (fleet: OperatedFleet) => Promise<T>): Promise<T> {
  const url = fleetUrl(invocation);
  if (url === undefined)
    throw usageError(
      `'${invocation.name} fleet' is about a fleet on a NATS server: --fleet nats://…, or COURSER_FLEET. The runs of this machine: ${invocation.name} runs list`,
    );
  const fleet = await openNatsFleet(url, invocation.env);
  try {
    return await work(fleet);
  } finally {
    fleet.close();
  }
}
