// The fleet of one machine.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import { fleetKit, newRun } from "./fleet-kit.ts";

fleetKit("sqlite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-fleet-"));
  return {
    connect: async () => openSqliteFleet(join(folder, "runs", "runs.db")),
    address: { configDir: folder },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

it("one machine starts no more run hosts than its limit, and no second one for a run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-fleet-"));
  const file = join(folder, "runs", "runs.db");
  const [fleet, other] = [openSqliteFleet(file), openSqliteFleet(file)];
  for (const number of [1, 2, 3]) await fleet.enqueue(newRun(number));
  const options = { worker: "w", ttlMs: 10_000 };
  const given = await Promise.all([fleet, other, fleet].map((each) => each.lease({ ...options, most: 2 })));
  expect(given.map((lease) => lease?.run)).toEqual(["run-1", "run-2", undefined]);
  expect(await other.lease({ ...options, run: "run-1" })).toBeUndefined();
  expect((await other.lease({ ...options, run: "run-3" }))?.run).toBe("run-3");
  for (const each of [fleet, other]) each.close();
  rmSync(folder, { recursive: true, force: true });
});

it("the database of runs is readable only by its owner", async () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-fleet-"));
  const file = join(folder, "runs", "runs.db");
  const fleet = openSqliteFleet(file);
  await fleet.enqueue(newRun(1));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "runs")).mode & 0o777).toBe(0o700);
  fleet.close();
  rmSync(folder, { recursive: true, force: true });
});
