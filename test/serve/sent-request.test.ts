// What restricts whoever sends a run to a fleet goes with it, or keeps it from being sent.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { requestForFleet } from "../../src/serve/sent-request.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "courser-sent-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const permit = { version: 1, hooks: { beforeShellExecution: [{ command: "guard" }] } };
const observe = { version: 1, hooks: { afterFileEdit: [{ command: "format" }] } };
const claude = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "guard" }] }] } };

function sent(files: Record<string, object>, more: object = {}, cli?: "claude") {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), JSON.stringify(content));
  }
  const request = { workspace: join(home, "work"), ...more };
  return requestForFleet(request, { type: "upload" }, { configDir: join(home, ".cursor"), env: { HOME: home } }, cli);
}

it("adds the sender's own deny rules, and those of the project", () => {
  const rules = (deny: string[]) => ({ permissions: { allow: ["Shell(ls)"], deny } });
  const files = {
    ".cursor/cli-config.json": rules(["Write(own.txt)", "Shell(rm)"]),
    "work/.cursor/cli.json": rules(["Read(private/**)"]),
  };
  const { permissions } = sent(files, { permissions: { allow: ["Shell(git)"], deny: ["Shell(rm)"] } });
  expect(permissions!.allow).toEqual(["Shell(git)"]);
  expect([...permissions!.deny!].sort()).toEqual(["Read(private/**)", "Shell(rm)", "Write(own.txt)"]);
  expect(sent(files, {}, "claude").permissions).toBeUndefined();
});

it.each([
  [".cursor/hooks.json", permit],
  [".claude/settings.json", claude],
])("refuses a run that %s could refuse something, unless the sender says so", (name, hooks) => {
  expect(() => sent({ [name]: hooks })).toThrow(/can refuse what the run does.*--without-local-hooks/s);
  expect(() => sent({ [name]: hooks })).toThrow(join(home, name));
  expect(sent({ [name]: hooks }, { withoutLocalHooks: true }).workspace).toBe(join(home, "work"));
});

it.each([
  [".cursor/hooks.json", observe],
  ["work/.cursor/hooks.json", permit], // goes with the files
])("sends a run with %s", (name, hooks) => {
  expect(sent({ [name]: hooks }).workspace).toBe(join(home, "work"));
});
