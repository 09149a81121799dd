// Opens a fleet on a NATS server with JetStream.
import type { Fleet, Overview } from "../../fleet.ts";
import { readAddress, usualTimeoutMs } from "./address.ts";
import { connectFleet } from "./connect.ts";
import { fleetError } from "./errors.ts";
import { JetStream } from "./jetstream.ts";
import { NatsFleet } from "./nats-fleet.ts";
import { type Limits, overviewOf, setLimits } from "./overview.ts";

/** A fleet with the operator's functions: the overview and the limits. */
export type OperatedFleet = Fleet & { overview(): Promise<Overview>; limit(limits: Limits): Promise<void> };

export async function openNatsFleet(url: string, env: NodeJS.ProcessEnv): Promise<OperatedFleet> {
  const address = readAddress(url, env);
  const connected = await connectFleet(address);
  const server = new JetStream(connected, { readersMs: address.timeoutMs ?? usualTimeoutMs });
  const explained = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      throw fleetError(error, connected.where);
    });
  return Object.assign(new NatsFleet(server, env["COURSER_FLEET_SENDER"] || env["USER"] || env["USERNAME"]), {
    overview: () => explained(overviewOf(connected, server)),
    limit: (limits: Limits) => explained(setLimits(connected, server, limits)),
  });
}
