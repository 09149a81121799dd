// Programs that PATH finds in the workspace, and what git keeps for itself.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

const fixture = makeFixture();
afterAll(() => removeFixture(fixture));

it("the policy judges a changed program of the workspace as one of its files", async () => {
  const bin = join(fixture.workspace, "bin");
  mkdirSync(bin);
  for (const name of ["tool", "ls"]) writeFileSync(join(bin, name), "#!/bin/sh\n", { mode: 0o755 });
  const rules = rulesOf({ allow: ["Shell(tool)"] });
  const verdictOf = async (command: string, changes: Partial<Situation>) => {
    const situation = situationOf(fixture, { rules, searchPath: `${bin}:/usr/bin:/bin`, ...changes });
    return (await decide([{ kind: "Shell", target: command }], situation)).verdict;
  };
  expect(await verdictOf("tool", { startedAt: Date.now() - 60_000 })).toBe("ask");
  expect(await verdictOf("tool", { startedAt: Date.now() + 60_000 })).toBe("allow");
  expect(await verdictOf("tool", { startedAt: Date.now() - 60_000, searchPath: "/usr/bin:/bin" })).toBe("allow");
  utimesSync(join(bin, "ls"), 0, 0);
  expect(await verdictOf("ls", { attended: { sandboxWorks: true }, startedAt: Date.now() + 60_000 })).toBe("ask");
});

it("the policy asks before .git/HEAD is written, except by git", async () => {
  const situation = situationOf(fixture, { mode: "force" });
  const verdictOf = async (kind: "Shell" | "Write", target: string) =>
    (await decide([{ kind, target }], situation)).verdict;
  expect(await verdictOf("Write", ".git/HEAD")).toBe("ask");
  expect(await verdictOf("Shell", "echo ref: refs/heads/x > .git/HEAD")).toBe("ask");
  expect(await verdictOf("Shell", "git checkout -b x")).toBe("allow");
});
