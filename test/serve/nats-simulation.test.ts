// The engine of fleets on a simulated server that fails in every way it can. The long form: npm run long -- simulate-fleet
import { expect, it } from "vitest";
import { simulate } from "./simulation/index.ts";

it("each run ends once, whatever dies, freezes, is cut off, gets lost or comes twice; the same seed, the same story", async () => {
  const report = await simulate({ runs: 150, workers: 15, seed: 7 });
  expect(report).toMatchObject({ lost: 0, twice: 0, zombieEvents: 0, unkept: 0 });
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
  expect(await simulate({ runs: 150, workers: 15, seed: 7 })).toEqual(report);
}, 60_000);
