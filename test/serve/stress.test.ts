// The short form of `npm run long -- serve`.
import { expect, it } from "vitest";
import { stress } from "./stress.ts";

it("background runs survive a killed service: each ends once with one result", async () => {
  const { maxAtOnce, ...report } = await stress({ runs: 6, kills: 1, seconds: 0.2 });
  expect(report).toEqual({ runs: 6, kills: 1, lost: 0, twice: 0, results: 6, unfinished: [] });
  expect(maxAtOnce).toBeLessThanOrEqual(8);
}, 90_000);
