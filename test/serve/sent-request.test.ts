// What restricts whoever sends a run to a fleet goes with it, or keeps it from being sent.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refuseRestrictionsLeftBehind } from "../../src/serve/restrictions-left-behind.ts";
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

it("refuses a run that hooks of a plugin on this machine could refuse", () => {
  const files = {
    ".cursor/plugins/local/guard/.cursor-plugin/plugin.json": { name: "guard" },
    ".cursor/plugins/local/guard/hooks/hooks.json": permit,
  };
  expect(() => sent(files)).toThrow(/plugins.local.guard.hooks.hooks\.json/);
});

it.each([
  [".cursor/hooks.json", observe],
  ["work/.cursor/hooks.json", permit], // goes with the files
])("sends a run with %s", (name, hooks) => {
  expect(sent({ [name]: hooks }).workspace).toBe(join(home, "work"));
});

function put(files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, "work", name)), { recursive: true });
    writeFileSync(join(home, "work", name), content);
  }
}

function commit(): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: join(home, "work") });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "all");
}

const send = (choice: Parameters<typeof refuseRestrictionsLeftBehind>[1], more = {}) =>
  refuseRestrictionsLeftBehind({ workspace: join(home, "work"), ...more }, choice, {
    env: { PATH: process.env["PATH"], HOME: home, CURSOR_CONFIG_DIR: join(home, ".cursor") },
  });

describe.each([
  [".cursorignore", "private/\n"],
  [".cursor/sandbox.json", "{}"],
  [".cursor/hooks.json", JSON.stringify(permit)],
  [".claude/settings.local.json", JSON.stringify(claude)],
])("%s, which restricts runs of the project,", (name, content) => {
  it("keeps a run from being sent where git ignores it, unless all files are sent", async () => {
    put({ "a.txt": "a", ".gitignore": `${name}\n` });
    commit();
    put({ [name]: content });
    await expect(send({ type: "upload" })).rejects.toThrow(name);
    await expect(send({ type: "repository" })).rejects.toThrow(name);
    await send({ type: "upload", isWhole: true });
    await send({ type: "none" });
  });

  it("goes with the files that are uploaded, and with the commit only where it is in there", async () => {
    put({ "a.txt": "a" });
    commit();
    put({ [name]: content });
    await send({ type: "upload" });
    await expect(send({ type: "repository" })).rejects.toThrow(`${name}. They are not in the commit`);
    commit();
    await send({ type: "repository" });
  });
});

it("sends a run without hooks of the project that are left behind, if the sender says so", async () => {
  put({ "a.txt": "a" });
  commit();
  put({ ".cursor/hooks.json": JSON.stringify(permit) });
  await send({ type: "repository" }, { withoutLocalHooks: true });
  put({ ".cursor/hooks.json": JSON.stringify(observe) });
  await send({ type: "repository" });
});
