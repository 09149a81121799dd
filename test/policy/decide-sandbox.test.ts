// Commands that run confined, and commands of this program itself.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import type { Need } from "../../src/policy/need.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

async function verdict(kind: Need["kind"], target: string, changes: Partial<Situation> = {}): Promise<string> {
  return (await decide([{ kind, target }], situationOf(fixture, changes))).verdict;
}

describe("decisions with a sandbox", () => {
  const rules = { allow: ["Shell(ls)", "Shell(touch)"], deny: ["Shell(rm)"] };

  /** The verdict with the sandbox `off`, `unlisted` and `all`; `+`: confined. */
  it.each([
    ["covered by a rule", "ls -l", ["allow", "allow", "allow"], ["allow", "allow", "allow"]],
    ["covered by none", "make", ["ask", "allow+", "allow+"], ["allow", "allow", "allow+"]],
    ["covered in part", "ls && make", ["ask", "allow+", "allow+"], ["allow", "allow", "allow+"]],
    ["a write that no rule covers", "ls > x", ["ask", "allow+", "allow+"], ["allow", "allow", "allow+"]],
    ["with privileges", "sudo ls", ["ask", "allow+", "allow+"], ["allow", "allow", "allow+"]],
    ["outside", "cd .. && ls", ["ask", "allow+", "allow+"], ["allow", "allow", "allow+"]],
    ["denied", "rm x", ["deny", "deny", "deny"], ["deny", "deny", "deny"]],
    ["denied inside", "make; env rm x", ["deny", "deny", "deny"], ["deny", "deny", "deny"]],
    ["unseen, with deny rules", "$X y", ["ask", "ask", "ask"], ["ask", "ask", "ask"]],
    ["a protected path", "touch .envrc", ["ask", "ask", "ask"], ["ask", "ask", "ask"]],
    ["own configuration", "touch ~/.cursor/x", ["deny", "deny", "deny"], ["deny", "deny", "deny"]],
    ["own permissions", "courser permissions allow x", ["ask", "ask", "ask"], ["ask", "ask", "ask"]],
  ])("when the sandbox works, the policy decides about a command that is %s", async (_, target, byDefault, forced) => {
    for (const [mode, expected] of [
      ["default", byDefault],
      ["force", forced],
    ] as const) {
      for (const interactive of [true, false]) {
        const answers = [];
        for (const sandbox of ["off", "unlisted", "all"] as const) {
          const situation = situationOf(fixture, { mode, interactive, sandbox, rules: rulesOf(rules) });
          const { verdict: answer, confined } = await decide([{ kind: "Shell", target }], situation);
          answers.push(answer + (confined ? "+" : ""));
        }
        expect(answers).toEqual(expected);
      }
    }
  });

  it("commands that the policy cannot analyse run in the sandbox if no deny rule exists", async () => {
    const situation = situationOf(fixture, { interactive: false, sandbox: "unlisted" });
    const answer = await decide([{ kind: "Shell", target: 'eval "$X"' }], situation);
    expect(answer).toMatchObject({ verdict: "allow", confined: true });
    expect(answer.reasons.at(-1)).toBe("It runs in the sandbox.");
  });

  it("without a working sandbox only a person may allow privilege changes", async () => {
    const situation = situationOf(fixture, { interactive: false, sandbox: "unlisted" });
    expect(await decide([{ kind: "Shell", target: "sudo make" }], situation)).toMatchObject({
      verdict: "allow",
      confined: true,
      personOnly: true,
    });
  });

  it("a working sandbox makes no other permission easier", async () => {
    for (const [kind, target] of [
      ["Read", "../outside.txt"],
      ["Delete", "README.md"],
      ["Mcp", "a:b"],
      ["WebFetch", "https://a.test"],
    ] as const)
      expect(await verdict(kind, target, { sandbox: "all" })).toBe("ask");
    for (const mode of ["plan", "ask"] as const)
      expect(await verdict("Shell", "ls", { mode, sandbox: "all" })).toBe("deny");
  });

  it("a tool call with several needs runs in the sandbox if one of them must", async () => {
    const situation = situationOf(fixture, { sandbox: "unlisted", rules: rulesOf(rules) });
    const needs: Need[] = [
      { kind: "Read", target: "README.md" },
      { kind: "Shell", target: "ls" },
      { kind: "Shell", target: "make" },
    ];
    expect(await decide(needs, situation)).toMatchObject({ verdict: "allow", confined: true });
    expect((await decide(needs.slice(0, 2), situation)).confined).toBeUndefined();
  });
});

describe("the program's own commands", () => {
  const allow = [
    "Shell(courser)",
    "Shell(agent)",
    "Shell(cursor-agent)",
    "Shell(node)",
    "Shell(env)",
    "Shell(npx)",
    "Shell(**)",
  ];

  it.each([
    "courser permissions allow 'Shell(**)'",
    "courser permissions deny x",
    "agent --model auto permissions allow x",
    "/usr/bin/cursor-agent sandbox disable",
    "cursor-agent mcp enable x",
    "courser -p --approve-mcp x hi",
    "courser -p --mcp-config servers.json hi",
    "courser login openai",
    "courser -p --force 'do it'",
    "courser -pf 'do it'",
    "courser -p --trust x",
    "courser --yolo x",
    "courser -p --sandbox disabled x",
    "courser permissions $X",
    "courser $X allow",
    "node dist/courser.cjs permissions allow x",
    "npx courser-agent permissions allow x",
    "bash -c 'courser permissions allow x'",
    "true && (env A=1 courser permissions allow x)",
    "echo $(courser permissions allow x)",
    "find . -exec courser permissions allow x \\;",
  ])("only a person may allow the command %s", async (target) => {
    for (const mode of ["default", "force"] as const) {
      for (const sandbox of ["off", "unlisted", "all"] as const) {
        const situation = situationOf(fixture, { mode, sandbox, rules: rulesOf({ allow }) });
        expect(await decide([{ kind: "Shell", target }], situation)).toMatchObject({
          verdict: "ask",
          personOnly: true,
        });
      }
    }
  });

  it.each([
    "courser permissions check 'Shell: ls'",
    "courser permissions list",
    "courser -p hello",
    "agent models",
    "courser ls",
  ])("the policy needs no person for the command %s", async (target) =>
    expect(await verdict("Shell", target, { rules: rulesOf({ allow }) })).toBe("allow"),
  );
});
