// Every case under test/cases against what is built. The long forms run by `npm run cases -- test/cases --long`.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { drivers, missingFor, runCase } from "./cases-runner.ts";
import type { Case } from "./support/case.ts";
import { casesIn } from "./support/case.ts";
import { orSkipped } from "./support/skipping.ts";

const folder = join(import.meta.dirname, "cases");
const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
const cases = files.flatMap((name) => casesIn(join(folder, name))).filter((given) => given.group in drivers);

/** Their cases have folders and processes of their own and mostly wait, the longest first. The others hold up or change this process. */
const patient = ["model", "process", "sandbox", "hooks"];
/** What is measured of these must not share the machine with its neighbours. */
const measured = ["event_loop_lag_ms_max", "max_rss_mb", "orphans_after"];

const tightMs = 6000;

const isPatient = ({ group, expect: wanted }: Case) =>
  patient.includes(group) && !measured.some((key) => key in wanted) && !(wanted["max_ms"] <= tightMs);
const together = cases
  .filter(isPatient)
  .sort((one, other) => patient.indexOf(one.group) - patient.indexOf(other.group));

describe("cases, one at a time", () => {
  for (const given of cases.filter((each) => !isPatient(each))) check(given);
});

describe.concurrent("cases, several at a time", () => {
  for (const given of together) check(given);
});

function check(given: Case): void {
  const missing = missingFor(given.group, "library");
  it.skipIf(missing)(orSkipped(given.id, missing), { timeout: 60_000 }, () => holds(given));
}

async function holds(given: Case): Promise<void> {
  const result = await runCase(given, "library", false);
  expect(result.skipped).toBeUndefined();
  expect({ safe: result.safe, exact: result.exact }, `${given.why}\n${result.detail}`).toEqual({
    safe: true,
    exact: true,
  });
}
