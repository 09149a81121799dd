// Every case under test/cases against what is built. The long forms run by `npm run cases -- test/cases --long`.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { casesIn, drivers, runCase } from "./cases-runner.ts";

const folder = join(import.meta.dirname, "cases");

for (const name of readdirSync(folder).filter((each) => each.endsWith(".jsonl"))) {
  const cases = casesIn(join(folder, name)).filter((given) => given.group in drivers);
  describe(name, () => {
    it.each(cases.map((given) => [given.id, given] as const))("%s", { timeout: 60_000 }, async (_, given) => {
      const result = await runCase(given, "library", false);
      expect(result.skipped).toBeUndefined();
      expect({ safe: result.safe, exact: result.exact }, `${given.why}\n${result.detail}`).toEqual({
        safe: true,
        exact: true,
      });
    });
  });
}
