// A word that takes several values is judged with each of them: a rule that covers the first round covers no other.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { explain } from "../../src/policy/explain.ts";
import { remedyFor } from "../../src/policy/remedy.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

const judge = async (command: string, lists: Parameters<typeof rulesOf>[0], changes: Partial<Situation> = {}) =>
  (await decide([{ kind: "Shell", target: command }], situationOf(fixture, { rules: rulesOf(lists), ...changes })))
    .verdict;
const range = (count: number, prefix = "") => Array.from({ length: count }, (_, at) => `${prefix}${at}`).join(" ");

describe("a rule must cover every value of a loop", () => {
  it.each([
    ["git push origin dev", "for b in dev main; do git push origin $b; done"],
    ["git push origin main", "for b in dev main; do git push origin $b; done"],
    ["git status", "for b in status push; do git $b; done"],
    ["git", "for b in status 'config alias.x !sh'; do git $b; done"],
    ["git", "for b in status config; do git $b core.pager sh; done"],
    ["npm test", "for b in test publish; do npm $b; done"],
    ["npm", "for a in test config; do for b in list set; do npm $a $b script-shell x; done; done"],
    ["ls", "for b in ls rm; do timeout 5 $b x; done"],
    ["sed", "for b in p 'e rm x'; do sed -n \"$b\" README.md; done"],
    ["awk", "for b in 1 'BEGIN{system(0)}'; do awk \"$b\" README.md; done"],
    ["sqlite3", "for b in 'select 1' '.shell rm x'; do sqlite3 a.db \"$b\"; done"],
    ["make", "for b in all SHELL=./x; do make $b; done"],
    ["git", `for a in status ${range(20)} config; do for b in log ${range(20)}; do git $a $b x; done; done`],
  ])("for a shell loop, the rule Shell(%s) leaves a question about: %s", async (rule, command) => {
    expect(await judge(command, { allow: [`Shell(${rule})`] })).toBe("ask");
  });

  it.each([
    ["git push origin", "for b in dev main; do git push origin $b; done"],
    ["npm", "for b in test build; do npm run $b; done"],
    ["cp", `for i in ${range(60, "a")}; do cp $i copy-$i; done`],
    ["echo", "for i in 1 2 3; do for j in a b; do echo $i $j; done; done"],
    ["mkdir", "mkdir -p src/{a,b}/{c,d}"],
  ])("for a shell loop, the rule Shell(%s) covers: %s", async (rule, command) => {
    expect(await judge(command, { allow: [`Shell(${rule})`] })).toBe("allow");
  });

  it("the policy compares a deny rule with every value of a shell loop", async () => {
    const deny = ["Shell(git push origin main)"];
    const loop = (names: string) => `for b in ${names}; do git push origin $b; done`;
    expect(await judge(loop("dev main"), { deny }, { mode: "force" })).toBe("deny");
    expect(await judge(loop("dev test"), { deny }, { mode: "force" })).not.toBe("deny");
  });

  it("for a shell loop, the offered rules cover every round, or the program", async () => {
    const offered = (names: string) =>
      remedyFor({ kind: "Shell", target: `for i in ${names}; do echo tick $i; done` }, situationOf(fixture));
    expect((await offered("1 2 3")).sort()).toEqual([1, 2, 3].map((each) => `Shell(echo tick ${each})`));
    expect(await offered(range(20))).toEqual(["Shell(echo)"]);
  });

  it("permissions explain names the loop values that no rule covers", async () => {
    const need = { kind: "Shell", target: "for b in dev main; do git push origin $b; done" } as const;
    const rules = rulesOf({ allow: ["Shell(git push origin dev)"] });
    const { verdict, reasons, commands } = await explain(need, situationOf(fixture, { rules }));
    expect({ verdict, reasons }).toEqual({ verdict: "ask", reasons: ["No allow rule covers git push origin main."] });
    const [first] = commands!;
    expect([first!.command, first!.verdict]).toEqual(["git push origin $b", "allow"]);
    expect(first!.runs.map((each) => [each.command, each.verdict])).toContainEqual(["git push origin main", "ask"]);
  });
});
