// Cases once more, by the other way: policy and sandbox through the built CLI, frames through the adapter. Both must agree.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { casesIn, runCase } from "./cases-runner.ts";

const folder = join(import.meta.dirname, "cases");

for (const group of ["shell", "benign", "paths", "mcp", "sandbox", "frames"]) {
  const cases = casesIn(join(folder, `security-${group}.jsonl`));
  // What a sandboxed command or a stream may use up is measured: those take turns.
  const run = group === "sandbox" || group === "frames" ? it : it.concurrent;
  describe(group, () => {
    run.each(cases.map((given) => [given.id, given] as const))("%s", { timeout: 60_000 }, async (_, given) => {
      const result = await runCase(given, "cli", false);
      expect(result.skipped).toBeUndefined();
      expect({ safe: result.safe, exact: result.exact }, `${given.why}\n${result.detail}`).toEqual({
        safe: true,
        exact: true,
      });
    });
  });
}
