// Where rules are looked for, and what they are called: by their path below the folder, however deep, in one order everywhere.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listRules, parseRule } from "../../src/agent/instructions/rules.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-rules-")));
const rules = join(base, "work/.cursor/rules");
const outside = join(base, "outside");
afterAll(() => rmSync(base, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const list = (within = [join(base, "work")]) =>
  listRules(join(base, "work"), { workspace: join(base, "work"), within, roots: [join(base, "work")] } as never);

beforeAll(() => {
  write(join(rules, "top.mdc"), "top");
  write(join(rules, "team/web/pages.mdc"), "---\nglobs: a, b\n---\npages");
  write(join(rules, "team/api.mdc"), "---\nalwaysApply: true\n---\napi");
  write(join(rules, "team/web/notes.md"), "no rule");
  write(join(rules, "empty.mdc"), "---\ndescription: nothing\n---\n");
  write(join(rules, `${"d/".repeat(8)}deep.mdc`), "deep");
  write(join(rules, `${"d/".repeat(9)}deeper.mdc`), "deeper");
  write(join(rules, "odd.mdc"), "---\nalwaysApply: perhaps\n---\nodd");
  write(join(outside, "far.mdc"), "far");
  symlinkSync(outside, join(rules, "linked"));
  symlinkSync(rules, join(rules, "team/round"));
});

it("rules are named by path up to a depth, and links lead nowhere else", () => {
  const { rules: found, warnings } = list();
  expect(found.map(({ name, how }) => `${name} ${how}`)).toEqual([
    `${"d/".repeat(8)}deep manual`,
    "odd manual",
    "team/api always",
    ...found.flatMap(({ name, how }) => (name.startsWith("team/round/") ? [`${name} ${how}`] : [])),
    "team/web/pages files",
    "top manual",
  ]);
  expect(found.find(({ name }) => name === "team/web/pages")).toMatchObject({
    path: join(rules, "team/web/pages.mdc"),
    owner: join(base, "work"),
    globs: ["a", "b"],
    text: "pages",
  });
  expect(warnings.join("\n")).toContain("alwaysApply must be true or false; it is treated as false");
  expect(found.filter(({ name }) => name.split("round/").length > 2)).toEqual([]);
});

it("a linked rules folder is read if it is allowed", () => {
  const names = list([join(base, "work"), outside]).rules.map(({ name }) => name);
  expect(names).toContain("linked/far");
});

it.each([
  ["text", "manual"],
  ["---\ndescription: d\n---\ntext", "described"],
  ["---\ndescription: d\nglobs: x\n---\ntext", "files"],
  ["---\ndescription: d\nglobs: x\nalwaysApply: true\n---\ntext", "always"],
  ["---\nalwaysApply: false\n---\ntext", "manual"],
])("the rule file %j applies: %s", (source, how) => {
  expect(parseRule(source).rule.how).toBe(how);
});
