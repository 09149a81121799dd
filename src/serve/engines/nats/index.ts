// A fleet on a server of NATS with JetStream.
import type { Fleet } from "../../fleet.ts";
import { readAddress, usualTimeoutMs } from "./address.ts";
import { connectFleet } from "./connect.ts";
import { JetStream } from "./jetstream.ts";
import { NatsFleet } from "./nats-fleet.ts";

export async function openNatsFleet(url: string, env: NodeJS.ProcessEnv): Promise<Fleet> {
  const address = readAddress(url, env);
  return new NatsFleet(new JetStream(await connectFleet(address), { readersMs: address.timeoutMs ?? usualTimeoutMs }));
}
