import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { explain } from "../../src/policy/explain.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";
import { type WeekKind, week } from "./week.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  for (const folder of ["app", "tests", "internal"]) mkdirSync(join(fixture.workspace, folder));
});
afterAll(() => removeFixture(fixture));

const judge = (command: string, changes: Partial<Situation>) =>
  decide([{ kind: "Shell", target: command }], situationOf(fixture, changes));

/** How many of each kind are asked about. */
async function askedAbout(changes: Partial<Situation>): Promise<Record<WeekKind, number>> {
  const asked = { reading: 0, working: 0, outside: 0 };
  for (const { kind, command } of week) if ((await judge(command, changes)).verdict === "ask") asked[kind]++;
  return asked;
}

const inFront = { attended: { sandboxWorks: true } };
const withoutSandbox = { attended: { sandboxWorks: false } };
const consented = { ...inFront, sandbox: "unlisted" } as const;

describe("a hundred commands of a week, in front of a person", () => {
  it("for the commands of a working week, the policy asks as often as the table lists, before and after", async () => {
    expect(week.length).toBe(102);
    const all = { reading: 56, working: 29, outside: 17 };
    expect(await askedAbout({})).toEqual(all);
    expect(await askedAbout(inFront)).toEqual({ ...all, reading: 0 });
    expect(await askedAbout(withoutSandbox)).toEqual({ ...all, reading: 0 });
    expect(await askedAbout(consented)).toEqual({ reading: 0, working: 0, outside: all.outside });
  });

  it("where a sandbox works, the commands of a working week run without a question", async () => {
    for (const { kind, command } of week) {
      const free = kind === "reading" ? { verdict: "allow", reading: true } : {};
      expect(await judge(command, inFront), command).toMatchObject({
        ...free,
        ...(kind === "reading" && { confined: true }),
      });
      expect((await judge(command, withoutSandbox)).confined, command).toBeUndefined();
      if (kind !== "outside")
        expect(await judge(command, consented), command).toMatchObject({ verdict: "allow", confined: true });
    }
  });
});

describe("reading commands that are asked about", () => {
  it.each([
    "cat /etc/hosts",
    "cat ~/.ssh/id_ed25519",
    "ls ~",
    "ls ..",
    "cat src/../../outside.txt",
    "cat < ../outside.txt",
    "head -1 $FILE",
    "cat $(git rev-parse --show-toplevel)/../outside.txt",
    "grep -r key /",
    "grep -f ../outside.txt src/app.ts",
    "rg --file=../outside.txt src",
    "find .. -name '*.pem'",
    "find / -name id_rsa",
    "du -sh ~",
    "git -C .. status",
    "git diff --no-index /etc/passwd src/app.ts",
    "cat link.txt",
    "cd .. && ls",
    "cat list.txt | xargs cat",
    "jq . ../outside.txt",
    "sed -n 1p ../outside.txt",
    "awk 1 /etc/hosts",
    "diff src/app.ts ../outside.txt",
    "wc -l --files0-from=list.txt",
    "sort --files0-from=list.txt",
    "tree -R -L 1 src",
    "git branch new",
    "git branch -D main",
    "git tag v1",
    "git remote add a b",
    "git stash",
    "git config user.name x",
    "node --version evil.js",
    "ls; rm victim.txt",
    "ls > files.txt",
    "PATH=. ls",
  ])("the policy asks about a read-only command that reaches outside: %s", async (command) => {
    symlinkOnce();
    expect((await judge(command, inFront)).verdict).not.toBe("allow");
    expect((await judge(command, withoutSandbox)).verdict).not.toBe("allow");
  });

  it("the policy asks about a read-only command if a deny rule names it or its file", async () => {
    const rules = rulesOf({ deny: ["Shell(cat)", "Read(.env)"] });
    expect((await judge("cat README.md", { ...inFront, rules })).verdict).toBe("deny");
    expect((await judge("head .env", { ...inFront, rules })).verdict).toBe("deny");
    // The sandbox hides the file from what looks through the folder; without one, somebody is asked.
    expect(await judge("grep -r KEY .", { ...inFront, rules })).toMatchObject({ verdict: "allow", confined: true });
    expect((await judge("grep -r KEY .", { ...withoutSandbox, rules })).verdict).not.toBe("allow");
  });

  it("the policy asks about a read-only command if an ignore file hides something and there is no sandbox", async () => {
    const other = makeFixture();
    writeFileSync(join(other.workspace, ".cursorignore"), ".env\n");
    const verdictOf = async (changes: Partial<Situation>) =>
      (await decide([{ kind: "Shell", target: "cat .env" }], situationOf(other, changes))).verdict;
    expect(await verdictOf(inFront)).toBe("allow");
    expect(await verdictOf(withoutSandbox)).toBe("ask");
    removeFixture(other);
  });

  it("the policy asks about a read-only command in every other situation", async () => {
    expect((await judge("ls", {})).verdict).toBe("ask");
    expect((await judge("ls", { interactive: false })).verdict).toBe("ask");
    expect((await judge("ls", { ...inFront, mode: "plan" })).verdict).toBe("deny");
  });
});

it("permissions explain shows for each part of a read-only command that nobody is asked", async () => {
  const need = { kind: "Shell", target: "git status && cat src/app.ts" } as const;
  const { verdict, reasons, commands } = await explain(need, situationOf(fixture, inFront));
  expect({ verdict, reasons }).toEqual({
    verdict: "allow",
    reasons: ["It only reads, and only in the workspace.", "It runs in the sandbox."],
  });
  expect(commands?.map((each) => [each.verdict, each.reason])).toEqual([
    ["allow", "It only reads."],
    ["allow", "It only reads."],
  ]);
});

function symlinkOnce(): void {
  try {
    symlinkSync("../outside.txt", join(fixture.workspace, "link.txt"));
  } catch {}
}
