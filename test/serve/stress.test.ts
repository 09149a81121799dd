// The short form of `npm run test:serve`.
import { expect, it } from "vitest";
import { stress } from "./stress.ts";

it("background runs while the service is killed: none lost, none run twice, each with one result", async () => {
  const { mostAtOnce, ...report } = await stress({ runs: 10, kills: 2, seconds: 0.2 });
  expect(report).toEqual({ runs: 10, kills: 2, lost: 0, twice: 0, results: 10 });
  expect(mostAtOnce).toBeLessThanOrEqual(8);
}, 90_000);
