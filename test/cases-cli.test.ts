// Cases once more, by the other way: policy, network and sandbox through the built CLI, frames through the adapter. Both must agree.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingFor, runCase } from "./cases-runner.ts";
import { runPolicyCasesInCli, sharedRunOf } from "./policy/policy-driver.ts";
import { type Case, type CaseResult, casesIn } from "./support/case.ts";
import { orSkipped } from "./support/skipping.ts";

const folder = join(import.meta.dirname, "cases");

const together = ["security-ssrf", "security-mcp", "security-paths", "security-shell", "security-benign"];
// What a sandboxed command or a stream may use up is measured: those take turns.
const inTurns = ["security-sandbox", "security-frames", "frames-more"];

const casesOf = (name: string) => casesIn(join(folder, `${name}.jsonl`)).filter(isWorthAProgram);

/** Of the many streams, those where more than a parser is asked for: calls, ends, limits, settings. */
function isWorthAProgram({ id, config, expect }: Case): boolean {
  if (!id.startsWith("frames.m")) return true;
  const isMore = ["executed", "child_killed", "finish", "stderr_in_error", "max_rss_mb"].some((key) => key in expect);
  return isMore || Object.keys(config).length > 0;
}

describe.concurrent("cases of the command line, in parallel", () => {
  const cases = together.flatMap(casesOf);
  for (const given of cases) check(given, cases);
});

describe("cases of the command line, one after the other", () => {
  for (const given of inTurns.flatMap(casesOf)) check(given);
});

function check(given: Case, others: readonly Case[] = []): void {
  const missing = missingFor(given.group, "cli");
  it.skipIf(missing)(orSkipped(given.id, missing), { timeout: 60_000 }, async () => {
    const result = await resultOf(given, others);
    expect(result.skipped).toBeUndefined();
    expect({ safe: result.safe, exact: result.exact }, `${given.why}\n${result.detail}`).toEqual({
      safe: true,
      exact: true,
    });
  });
}

const runs = new Map<string, Promise<Map<Case, CaseResult>>>();

/** A start of the CLI serves all the cases that may share it. */
async function resultOf(given: Case, others: readonly Case[]): Promise<CaseResult> {
  const shared = sharedRunOf(given);
  if (shared === undefined) return runCase(given, "cli", false);
  if (!runs.has(shared)) {
    const cases = others.filter((other) => sharedRunOf(other) === shared);
    runs.set(
      shared,
      runPolicyCasesInCli(cases).then((results) => new Map(cases.map((each, index) => [each, results[index]!]))),
    );
  }
  return (await runs.get(shared)!).get(given)!;
}
