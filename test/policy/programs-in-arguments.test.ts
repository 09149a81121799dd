// Programs that are told what to start: deny rules of every form look at what they are told.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

async function verdict(command: string, rule: string): Promise<string> {
  const situation = situationOf(fixture, { mode: "force", rules: rulesOf({ deny: [rule] }) });
  return (await decide([{ kind: "Shell", target: command }], situation)).verdict;
}

describe("commands passed to other machines, containers or unknown programs", () => {
  it.each([
    ["Shell(git push)", "ssh host git push", "deny"],
    ["Shell(git push)", "ssh host git push origin main", "deny"],
    ["Shell(git push)", "ssh host 'cd a && git push'", "deny"],
    ["Shell(git push)", "docker exec c git push", "deny"],
    ["Shell(git push)", "ssh host git pull", "allow"],
    ["Shell(git push)", "ssh host 'git pull; echo push'", "allow"],
    ["Shell(git push)", "frobnicate git push", "ask"],
    ["Shell(git push)", "frobnicate 'git push'", "ask"],
    ["Shell(git push)", "frobnicate git pull", "allow"],
    ["Shell(rm:*-rf*)", "ssh host rm -rf a", "deny"],
    ["Shell(rm:*-rf*)", "ssh host rm a", "allow"],
    ["Shell(z?p)", "ssh host zap a", "deny"],
    ["Shell(z?p)", "ssh host 'ls; zap a'", "deny"],
    ["Shell(z?p)", "ssh host zoop a", "allow"],
    ["Shell(/usr/bin/zap)", "ssh host zap a", "deny"],
    ["Shell(/usr/bin/zap)", "ssh host /usr/bin/zap a", "deny"],
  ])("the deny rule %s looks at the command that is passed on: %s", async (rule, command, expected) => {
    expect(await verdict(command, rule)).toBe(expected);
  });
});
