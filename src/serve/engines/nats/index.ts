// A fleet on a server of NATS with JetStream.
import type { Fleet } from "../../fleet.ts";
import { readAddress, usualTimeoutMs } from "./address.ts";
import { connectFleet } from "./connect.ts";
import { fleetError } from "./errors.ts";
import { JetStream } from "./jetstream.ts";
import { NatsFleet } from "./nats-fleet.ts";
import { type Limits, type Overview, overviewOf, setLimits } from "./overview.ts";

export async function openNatsFleet(url: string, env: NodeJS.ProcessEnv): Promise<Fleet> {
  const address = readAddress(url, env);
  return new NatsFleet(new JetStream(await connectFleet(address), { readersMs: address.timeoutMs ?? usualTimeoutMs }));
}

export type FleetAdmin = { overview(): Promise<Overview>; limit(limits: Limits): Promise<void> };

/** The fleet, and what is behind it. */
export async function openForOperator(
  url: string,
  env: NodeJS.ProcessEnv,
): Promise<{ fleet: Fleet; admin: FleetAdmin }> {
  const address = readAddress(url, env);
  const connected = await connectFleet(address);
  const server = new JetStream(connected, { readersMs: address.timeoutMs ?? usualTimeoutMs });
  const explained = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      throw fleetError(error, connected.where);
    });
  const admin: FleetAdmin = {
    overview: () => explained(overviewOf(connected, server)),
    limit: (limits) => explained(setLimits(connected, limits)),
  };
  return { fleet: new NatsFleet(server), admin };
}
