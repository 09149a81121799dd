// All cases of the policy groups by their decision alone, and the everyday commands: seconds become milliseconds.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtInTools, findTool } from "../../../src/agent/tools/index.ts";
import { decide } from "../../../src/policy/decide.ts";
import type { Case } from "../../support/case.ts";
import { toolContext } from "../../support/tool-context.ts";
import { everydayCommands, everydayRules } from "../everyday.ts";
import {
  type Fixture,
  makeFixture,
  makeRepository,
  removeFixture,
  rulesOf,
  setUpFixture,
  situationOf,
} from "../fixture.ts";
import { type PolicyConfig, type PolicyInput, situationFor, toolCall } from "../policy-driver.ts";

const folder = join(import.meta.dirname, "../../cases");

/** Made once in a process: decisions change nothing, and the code that is looked at is loaded anew each time. */
const kept = globalThis as { policyFixtures?: Map<string, Fixture> };

function fixtureFor(given: Case): Fixture {
  kept.policyFixtures ??= new Map();
  const key = given.input["setup"] ? given.id : "";
  const known = kept.policyFixtures.get(key);
  if (known) return known;
  const fixture = makeRepository();
  setUpFixture(fixture, filledIn(given, fixture).input.setup);
  kept.policyFixtures.set(key, fixture);
  process.once("exit", () => removeFixture(fixture));
  return fixture;
}

/** What went wrong first; undefined when nothing did. */
export async function quickCases(): Promise<string | undefined> {
  const home = process.env["HOME"];
  process.setMaxListeners(0);
  try {
    for (const given of cases()) {
      const wrong = await wrongAnswer(given, fixtureFor(given));
      if (wrong) return wrong;
    }
    return await wrongEveryday();
  } finally {
    process.env["HOME"] = home;
  }
}

function cases(): Case[] {
  return readdirSync(folder)
    .filter((name) => /-(shell|benign|paths)\.jsonl$/.test(name))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean))
    .map((line) => JSON.parse(line) as Case)
    .filter((given) => !given.input["race"]);
}

function filledIn(given: Case, { workspace, home }: Fixture) {
  const text = JSON.stringify(given).replaceAll("{WS}", workspace).replaceAll("{HOME}", home);
  return JSON.parse(text) as { config: PolicyConfig; input: PolicyInput; expect: Case["expect"] };
}

async function wrongAnswer(given: Case, fixture: Fixture): Promise<string | undefined> {
  const { config, input, expect } = filledIn(given, fixture);
  process.env["HOME"] = fixture.home;
  const { tool: name, args } = toolCall(input);
  const tool = findTool(builtInTools, name)!;
  const context = toolContext(fixture.workspace);
  let verdict = "deny";
  try {
    verdict = (await decide(tool.needs(tool.parse(args), context), situationFor(fixture, config))).verdict;
  } catch {
    // A tool that does not take its arguments denies the call.
  }
  return verdict === expect["verdict"] ? undefined : `${given.id}: ${verdict}`;
}

async function wrongEveryday(): Promise<string | undefined> {
  const fixture = makeFixture();
  try {
    const situation = situationOf(fixture, { rules: rulesOf(everydayRules()) });
    for (const { command, asked } of everydayCommands()) {
      const { verdict } = await decide([{ kind: "Shell", target: command }], situation);
      if (verdict !== (asked ? "ask" : "allow")) return `${command}: ${verdict}`;
    }
    return undefined;
  } finally {
    removeFixture(fixture);
  }
}
