// Rules that name what another program starts: the command of a wrapper, the value of an option that executes.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

async function verdict(command: string, lists: { allow: string[]; deny?: string[] }): Promise<string> {
  const situation = situationOf(fixture, { rules: rulesOf(lists) });
  return (await decide([{ kind: "Shell", target: command }], situation)).verdict;
}

describe("rules for started programs", () => {
  it.each([
    ["Shell(npx vitest)", "npx vitest", "allow"],
    ["Shell(npx vitest)", "npx vitest run a", "allow"],
    ["Shell(npx vitest)", "npx jest", "ask"],
    ["Shell(npx vitest)", "npx vitest && npx jest", "ask"],
    ["Shell(npx vitest)", "nohup npx vitest", "allow"],
    ["Shell(npx)", "npx vitest", "ask"],
    ["Shell(find . -exec ls)", "find . -exec ls {} +", "allow"],
    ["Shell(find . -exec ls)", "find . -exec cat {} +", "ask"],
    ["Shell(tar --use-compress-program=zstd)", "tar --use-compress-program=zstd -cf a b", "allow"],
    ["Shell(tar --use-compress-program=zstd)", "tar --use-compress-program=xz -cf a b", "ask"],
  ])("the rule %s decides about the program that a command starts: %s", async (rule, command, expected) => {
    expect(await verdict(command, { allow: [rule] })).toBe(expected);
  });

  it("a Shell rule that names a command allows nothing that is denied", async () => {
    const allow = ["Shell(npx vitest)", "Shell(tar --use-compress-program=zstd)"];
    expect(await verdict("npx vitest", { allow, deny: ["Shell(vitest)"] })).toBe("deny");
    expect(await verdict("tar --use-compress-program=zstd -cf a b", { allow, deny: ["Shell(zstd)"] })).toBe("deny");
  });
});
