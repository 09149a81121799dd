// The cases of the network guard once more, through the built CLI in a network of its own. Both ways must agree.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCase } from "../cases-runner.ts";
import { casesIn } from "../support/case.ts";

const cases = casesIn(join(import.meta.dirname, "../cases/security-ssrf.jsonl"));

describe("ssrf, through the CLI", () => {
  it.concurrent.for(cases.map((given) => [given.id, given] as const))(
    "%s",
    { timeout: 60_000 },
    async ([, given], context) => {
      const result = await runCase(given, "cli", false);
      // Such a network is not to be had everywhere.
      if (result.skipped !== undefined) return context.skip(result.skipped);
      expect({ safe: result.safe, exact: result.exact }, `${given.why}\n${result.detail}`).toEqual({
        safe: true,
        exact: true,
      });
    },
  );
});
