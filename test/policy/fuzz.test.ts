// Bypass attempts from the grammar of tricks, as many as CI has time for. More: `npm run long -- fuzz-policy --rounds N`.
import { expect, it } from "vitest";
import { fuzz } from "./fuzz/index.ts";

it("the policy stops thousands of attempts to bypass it, most of which would do harm", {
  timeout: 600_000,
}, async () => {
  const result = await fuzz({ rounds: 4000, seed: 20_261_116 });
  expect(result.successes).toEqual([]);
  expect(result.attempts).toBeGreaterThan(3000);
  // A grammar of harmless lines would prove nothing.
  expect(result.effective / result.sampled).toBeGreaterThan(0.5);
  expect(result.verdicts["allow"]).toBeGreaterThan(0);
});
