import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { everydayCommands, everydayRules } from "./everyday.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

const commands = everydayCommands();
let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

describe("everyday commands", () => {
  it("the table has a thousand different everyday commands", () => {
    const groups: Record<string, number> = {};
    for (const { group } of commands) groups[group] = (groups[group] ?? 0) + 1;
    expect(groups).toEqual({ git: 200, npm: 150, python: 100, search: 100, docker: 100, other: 350 });
    expect(new Set(commands.map(({ command }) => command)).size).toBe(1000);
    const composed = commands.filter(({ command }) => /[|<>'"]|&&/.test(command));
    expect(composed.length).toBeGreaterThanOrEqual(400);
  });

  it("bash can parse every everyday command", () => {
    const parses = (lines: readonly string[]) => {
      const script = lines.map((line, index) => `f${index}() {\n${line}\n}\n`).join("");
      return spawnSync("bash", ["-n"], { input: script }).status === 0;
    };
    expect(parses(commands.map(({ command }) => command))).toBe(true);
    expect(parses([...commands.slice(0, 10).map(({ command }) => command), 'ls "open'])).toBe(false);
  });

  const askedAbout = async (list: typeof commands) => {
    const situation = situationOf(fixture, { rules: rulesOf(everydayRules()) });
    const asked: string[] = [];
    for (const { command } of list) {
      const { verdict, reasons } = await decide([{ kind: "Shell", target: command }], situation);
      if (verdict !== "allow") asked.push(`${verdict}: ${command}  (${reasons.join(" ")})`);
    }
    return asked;
  };

  it("of further everyday commands, the policy asks only about those marked as asked", async () => {
    const more = everydayCommands("everyday-more.jsonl");
    const asked = await askedAbout(more);
    expect(asked.join("\n")).toBe(
      asked.filter((line) => more.some((each) => each.asked && line.startsWith(`ask: ${each.command}  (`))).join("\n"),
    );
    expect(asked.length).toBe(more.filter((each) => each.asked).length);
  });

  it("the policy asks about at most one of a hundred everyday commands", async () => {
    const asked = await askedAbout(commands);
    console.log(`${asked.length} of ${commands.length} everyday commands are asked about:\n${asked.join("\n")}`);
    expect(asked.length).toBeLessThanOrEqual(commands.length / 100);
    expect(asked.length).toBe(commands.filter((each) => each.asked).length);
    // Not because everything passes.
    const bare = situationOf(fixture, { rules: rulesOf({ allow: ["Shell(ls)"] }) });
    const { verdict } = await decide([{ kind: "Shell", target: commands[0]!.command }], bare);
    expect(verdict).toBe("ask");
  });
});
