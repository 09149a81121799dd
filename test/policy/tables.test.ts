// What is known about programs, option by option: each line of tables/*.txt is a command that gets one answer.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

type Given = { mode?: Situation["mode"]; allow?: string[]; deny?: string[] };

/** The program of the line and a few others may run, and write in the workspace. */
const listed = (command: string): Given => ({
  allow: [command.split(" ")[0]!, "ls"].map((name) => `Shell(${name})`).concat("Write(**)"),
});
const everyProgram = (command: string): Given => ({
  allow: [...new Set(command.match(/[A-Za-z][\w-]*/g))].map((name) => `Shell(${name})`),
});
const forced = (): Given => ({ mode: "force" });
const denying = (): Given => ({ mode: "force", deny: ["Shell(zap)"] });

const tables: [file: string, what: string, verdict: string, given: (command: string) => Given][] = [
  ["asked", "options that do more than the rule says", "ask", listed],
  ["allowed", "ordinary options", "allow", listed],
  ["outside", "options that write outside", "ask", listed],
  ["protected", "writing protected paths", "ask", forced],
  ["unprotected", "only naming them", "allow", forced],
  ["denied", "running what is denied", "deny", denying],
  ["unseen", "what deny rules cannot be compared with", "ask", denying],
  ["seen", "what they can", "allow", denying],
  ["reads", "reading what is denied", "deny", (command) => ({ ...everyProgram(command), deny: ["Read(.env)"] })],
  ["unread", "naming it without reading", "allow", () => ({ mode: "force", deny: ["Read(.env*)"] })],
  ["names", "words that are no options", "allow", everyProgram],
  ["not-names", "words that may be options", "ask", everyProgram],
];

describe("tables", () => {
  it.each(tables)("%s.txt: %s", async (file, _, verdict, given) => {
    const commands = readFileSync(join(import.meta.dirname, "tables", `${file}.txt`), "utf8")
      .split("\n")
      .filter(Boolean);
    expect(commands.length).toBeGreaterThan(10);
    const wrong: string[] = [];
    for (const command of commands) {
      const { mode = "default", ...lists } = given(command);
      const situation = situationOf(fixture, { mode, rules: rulesOf(lists) });
      const answer = await decide([{ kind: "Shell", target: command }], situation);
      if (answer.verdict !== verdict) wrong.push(`${answer.verdict}: ${command}`);
    }
    expect(wrong).toEqual([]);
  });
});
