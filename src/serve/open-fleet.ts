// Opens the fleet that the user selected: this machine's own, or a server's by its address.
import { usageError } from "../protocol/error-codes.ts";
import { isFleetAddress, withoutLogin } from "./engines/nats/address.ts";
import { openSqliteFleet } from "./engines/sqlite.ts";
import { fleetFile } from "./engines/sqlite-tables.ts";
import type { Fleet, LocalFleet } from "./fleet.ts";

export type FleetHome = { configDir: string; env: NodeJS.ProcessEnv };

/** Opens the fleet of this machine, or the one on the NATS server at `url` (nats://… or tls://…) for many machines. */
export async function openFleet(url: undefined, home: FleetHome): Promise<LocalFleet>;
export async function openFleet(url: string | undefined, home: FleetHome): Promise<Fleet>;
export async function openFleet(url: string | undefined, { configDir, env }: FleetHome): Promise<Fleet> {
  if (url === undefined) return openSqliteFleet(fleetFile(configDir));
  if (!isFleetAddress(url))
    throw usageError(`'${withoutLogin(url)}' is not the address of a fleet, such as nats://127.0.0.1:4222.`);
  const { openNatsFleet } = await import("./engines/nats/index.ts");
  return openNatsFleet(url, env);
}
