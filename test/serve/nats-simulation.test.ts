// The engine of fleets on a simulated server that fails in every way it can. The long form: npm run long -- simulate-fleet
import { expect, it } from "vitest";
import { simulate } from "./simulation/index.ts";

it("in fleet simulations with crashes, freezes and lost messages, each run ends once, reproducibly", async () => {
  const report = await simulate({ runs: 150, workers: 15, seed: 41 });
  expect(report).toMatchObject({ lost: 0, twice: 0, zombieEvents: 0, ephemeral: 0, misled: 0 });
  for (const count of [
    report.kills,
    report.freezes,
    report.partitions,
    report.restarts,
    report.elections,
    report.continued,
    report.refused,
  ])
    expect(count).toBeGreaterThan(0);
  expect(report.soon).toBeGreaterThan(0.75);
  expect(await simulate({ runs: 150, workers: 15, seed: 41 })).toEqual(report);
}, 60_000);
