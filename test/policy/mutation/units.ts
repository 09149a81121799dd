// Everything that may notice a change of src/policy, in small parts: each case, each line of a table, each test.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { builtInTools, findTool } from "../../../src/agent/tools/index.ts";
import { decide } from "../../../src/policy/decide.ts";
import { runSsrfCase } from "../../net/ssrf-driver.ts";
import { type Case, casesIn } from "../../support/case.ts";
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
import { linesOf, tables, wrongLine } from "../tables.ts";
import { testUnits } from "./in-process.ts";

/** `run` throws where something is not as it should be; `text` is what it is about. */
export type Unit = { text: string; run(): Promise<void> };

export function units(): Unit[] {
  process.setMaxListeners(0);
  return [...policyCases(), ...ssrfCases(), ...tableLines(), ...everyday(), ...testUnits()];
}

const folder = join(import.meta.dirname, "../../cases");

/** Made once in a process: decisions change nothing, and the code that is looked at is loaded again each time. */
const kept = globalThis as { policyFixtures?: Map<string, Fixture> };

function fixtureFor(key: string, make: () => Fixture): Fixture {
  kept.policyFixtures ??= new Map();
  const known = kept.policyFixtures.get(key);
  if (known) return known;
  const fixture = make();
  kept.policyFixtures.set(key, fixture);
  process.once("exit", () => removeFixture(fixture));
  return fixture;
}

function casesOf(groups: RegExp): Case[] {
  return readdirSync(folder)
    .filter((name) => groups.test(name))
    .flatMap((name) => casesIn(join(folder, name)));
}

/** By their decision alone: seconds become milliseconds. */
function policyCases(): Unit[] {
  return casesOf(/-(shell|benign|paths)\.jsonl$/)
    .filter((given) => !given.input["race"])
    .map((given) => ({
      text: `${given.id} ${JSON.stringify(given.input)}`,
      run: () => checkCase(given),
    }));
}

async function checkCase(given: Case): Promise<void> {
  const fixture = fixtureFor(given.input["setup"] ? given.id : "", () => {
    const made = makeRepository();
    setUpFixture(made, filledIn(given, made).input.setup);
    return made;
  });
  const { config, input, expect } = filledIn(given, fixture);
  const home = process.env["HOME"];
  process.env["HOME"] = fixture.home;
  let verdict = "deny";
  try {
    const { tool: name, args } = toolCall(input);
    const tool = findTool(builtInTools, name)!;
    const context = toolContext(fixture.workspace);
    verdict = (await decide(tool.needs(tool.parse(args), context), situationFor(fixture, config))).verdict;
  } catch {
    // A tool that does not take its arguments denies the call.
  } finally {
    process.env["HOME"] = home;
  }
  if (verdict !== expect["verdict"]) throw new Error(verdict);
}

function filledIn(given: Case, { workspace, home }: Fixture) {
  const text = JSON.stringify(given).replaceAll("{WS}", workspace).replaceAll("{HOME}", home);
  return JSON.parse(text) as { config: PolicyConfig; input: PolicyInput; expect: Case["expect"] };
}

function ssrfCases(): Unit[] {
  return casesOf(/-ssrf\.jsonl$/).map((given) => ({
    text: `${given.id} ${JSON.stringify(given.input)}`,
    run: async () => {
      const { pass, detail } = await runSsrfCase(given, { driver: "library", long: false });
      if (!pass) throw new Error(detail);
    },
  }));
}

function tableLines(): Unit[] {
  return tables.flatMap((table) =>
    linesOf(table).map((command) => ({
      text: command,
      run: async () => {
        const wrong = await wrongLine(fixtureFor("tables", makeFixture), table, command);
        if (wrong) throw new Error(wrong);
      },
    })),
  );
}

function everyday(): Unit[] {
  const rules = rulesOf(everydayRules());
  return everydayCommands().map(({ command, asked }) => ({
    text: command,
    run: async () => {
      const situation = situationOf(fixtureFor("everyday", makeFixture), { rules });
      const { verdict } = await decide([{ kind: "Shell", target: command }], situation);
      if (verdict !== (asked ? "ask" : "allow")) throw new Error(verdict);
    },
  }));
}
