import { describe, expect, test } from "vitest";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { campaign } from "./index.ts";
import { cells, killAll } from "./kill-matrix.ts";
import * as stops from "./stop-matrix.ts";

// The long forms: npm run long -- stress --runs 10000 --concurrency 4; npm run long -- kill-matrix --rounds 10;
// npm run long -- stop-matrix --rounds 10
describe.skipIf(notLinux)(orSkipped("under fire", notLinux), () => {
  test("runs with random faults end with one result, leave nothing, and keep what they showed", {
    timeout: 240_000,
  }, async () => {
    const { faults, endings } = await campaign({ runs: 40, concurrency: 6, seed: 4 });
    expect(faults).toEqual([]);
    expect(endings.size).toBeGreaterThan(5);
  });

  test("a disk that fills up after the result was printed causes no second result", { timeout: 60_000 }, async () => {
    const { faults } = await campaign({ runs: 1, concurrency: 1, seed: 100_348 });
    expect(faults).toEqual([]);
  });

  test("every signal in every state ends a run properly", { timeout: 120_000 }, async () => {
    // All that die at once, and of the others one in eight: another signal for each state.
    const chosen = cells.filter(({ signal }, index) => (signal === "SIGKILL" ? index % 2 === 0 : index % 8 === 0));
    expect(new Set(chosen.map(({ signal }) => signal)).size).toBe(5);
    expect(await killAll(chosen, 4)).toEqual([]);
  });

  test("after a stop no further call begins, and every call that began has an end", { timeout: 120_000 }, async () => {
    const chosen = stops.cells.filter((_, index) => index % 7 === 5);
    for (const part of ["stop", "moment", "order"] as const)
      expect(new Set(chosen.map((cell) => cell[part]))).toEqual(new Set(stops.cells.map((cell) => cell[part])));
    expect((await stops.stopAll(chosen, 4)).faults).toEqual([]);
  });
});
