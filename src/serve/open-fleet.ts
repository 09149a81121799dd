// Opens the fleet that a user named: this machine's own, or a server's by its address.
import { UserError } from "../protocol/error-codes.ts";
import { isFleetAddress, withoutLogin } from "./engines/nats/address.ts";
import { openSqliteFleet } from "./engines/sqlite.ts";
import { fleetFile } from "./engines/sqlite-tables.ts";
import type { Fleet } from "./fleet.ts";

export type FleetHome = { configDir: string; env: NodeJS.ProcessEnv };

/** `url`: nats://…, tls://… for many machines; without, the runs of this one. */
export async function openFleet(url: string | undefined, { configDir, env }: FleetHome): Promise<Fleet> {
  if (url === undefined) return openSqliteFleet(fleetFile(configDir));
  if (!isFleetAddress(url))
    throw new UserError(
      "USAGE",
      `'${withoutLogin(url)}' is not the address of a fleet, such as nats://127.0.0.1:4222.`,
    );
  const { openNatsFleet } = await import("./engines/nats/index.ts");
  return openNatsFleet(url, env);
}
