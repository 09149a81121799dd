// Cases once more, by the other way: policy and sandbox through the built CLI, frames through the adapter. Both must agree.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCase } from "./cases-runner.ts";
import type { Case } from "./support/case.ts";
import { casesIn } from "./support/case.ts";

const folder = join(import.meta.dirname, "cases");

const groups = ["security-shell", "security-benign", "security-paths", "security-mcp", "security-sandbox"];
const streams = ["security-frames", "frames-more"];

/** Of the many streams, those where more than a parser is asked for: calls, ends, limits, settings. */
function isWorthAProgram({ id, config, expect }: Case): boolean {
  if (!id.startsWith("frames.m")) return true;
  const isMore = ["executed", "child_killed", "finish", "stderr_in_error", "max_rss_mb"].some((key) => key in expect);
  return isMore || Object.keys(config).length > 0;
}

for (const group of [...groups, ...streams]) {
  const cases = casesIn(join(folder, `${group}.jsonl`)).filter(isWorthAProgram);
  // What a sandboxed command or a stream may use up is measured: those take turns.
  const run = group === "security-sandbox" || streams.includes(group) ? it : it.concurrent;
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
