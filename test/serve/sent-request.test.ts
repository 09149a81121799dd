// What restricts whoever sends a run to a fleet goes with it, or keeps it from being sent.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunRequest } from "../../src/protocol/run.ts";
import { refuseRestrictionsLeftBehind } from "../../src/serve/restrictions-left-behind.ts";
import { readSource, refuseLocalFiles } from "../../src/serve/send-files.ts";
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

it.each<[string, object | string]>([
  ["upload", { type: "upload" }],
  ["none", { type: "none" }],
  ["git", { type: "repository" }],
  ["git:https://a.b/c", { type: "git", from: "https://a.b/c" }],
  ["git:https://a.b/c#", { type: "git", from: "https://a.b/c" }],
  ["git:https://a.b/c#v1", { type: "git", from: "https://a.b/c", ref: "v1" }],
  ["git:git@a.b:c", { type: "git", from: "git@a.b:c" }],
  ["git:https://me:secret@a.b/c", "--source: the address of the repository holds a login, and no secret is sent"],
  ["folder:/srv/x", { type: "folder", path: "/srv/x" }],
  ["folder:x", "--source 'folder:x': the folder must be an absolute path"],
  ["folder:", "--source 'folder:' is not a source. It may be upload, git, "],
  ["uploads", "--source 'uploads' is not a source"],
])("a run is sent to a fleet with the source %s", (text, source) => {
  if (typeof source === "string") expect(() => readSource(text)).toThrow(source);
  else expect(readSource(text)).toEqual(source);
});

it.each<[object, string | undefined]>([
  [{}, undefined],
  [{ roots: [], pluginDirs: [], mcpConfigs: [' {"a":1}'], hooks: ["{}"], chat: { type: "new" } }, undefined],
  [{ roots: ["/a"] }, "--add-dir"],
  [{ pluginDirs: ["/p"] }, "--plugin-dir"],
  [{ mcpConfigs: ["{}", "a.json"] }, "--mcp-config with a file (the JSON itself can be)"],
  [{ hooks: ["h.json"] }, "--hooks with a file (the JSON itself can be)"],
  [{ chat: { type: "resume", id: "-1" }, roots: ["/a"] }, "--add-dir, --resume"],
])("a run request with local files in %j names as not sendable: %s", (more, named) => {
  const check = (type: "upload" | "none") => () =>
    refuseLocalFiles({ workspace: "/w", ...more } as RunRequest, { type });
  expect(check("none")).not.toThrow();
  if (named === undefined) expect(check("upload")).not.toThrow();
  else expect(check("upload")).toThrow(`Cannot be sent to a fleet: ${named}. It is of this machine`);
});

it("a run sent to a fleet includes the sender's deny rules and the project's", () => {
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
])("a run whose calls %s could refuse is not sent to a fleet, unless the sender says so", (name, hooks) => {
  expect(() => sent({ [name]: hooks })).toThrow(/can refuse what the run does.*--without-local-hooks/s);
  expect(() => sent({ [name]: hooks })).toThrow(join(home, name));
  expect(sent({ [name]: hooks }, { withoutLocalHooks: true }).workspace).toBe(join(home, "work"));
});

it("a run whose calls hooks of a local plugin could refuse is not sent to a fleet", () => {
  const files = {
    ".cursor/plugins/local/guard/.cursor-plugin/plugin.json": { name: "guard" },
    ".cursor/plugins/local/guard/hooks/hooks.json": permit,
  };
  expect(() => sent(files)).toThrow(/plugins.local.guard.hooks.hooks\.json/);
});

it.each([
  [".cursor/hooks.json", observe],
  ["work/.cursor/hooks.json", permit], // goes with the files
])("a run with %s is sent", (name, hooks) => {
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
  it("a run is not sent to a fleet if git ignores the restricting file, unless all files are sent", async () => {
    put({ "a.txt": "a", ".gitignore": `${name}\n` });
    commit();
    put({ [name]: content });
    await expect(send({ type: "upload" })).rejects.toThrow(name);
    await expect(send({ type: "repository" })).rejects.toThrow(name);
    await send({ type: "upload", isWhole: true });
    await send({ type: "none" });
  });

  it("a file that restricts runs goes to the fleet with uploaded files, and with a commit that has it", async () => {
    put({ "a.txt": "a" });
    commit();
    put({ [name]: content });
    await send({ type: "upload" });
    await expect(send({ type: "repository" })).rejects.toThrow(`${name}. They are not in the commit`);
    commit();
    await send({ type: "repository" });
  });

  it("a run is not sent to a fleet with another commit that lacks the restricting file", async () => {
    put({ "a.txt": "a" });
    commit();
    execFileSync("git", ["branch", "before"], { cwd: join(home, "work") });
    put({ [name]: content });
    commit();
    await expect(send({ type: "git", from: "/elsewhere", ref: "before" })).rejects.toThrow(name);
    await send({ type: "git", from: "/elsewhere", ref: "HEAD" });
    await send({ type: "git", from: "/elsewhere" });
  });
});

it("a run is sent to a fleet without the project's local hooks if the sender says so", async () => {
  put({ "a.txt": "a" });
  commit();
  put({ ".cursor/hooks.json": JSON.stringify(permit) });
  await send({ type: "repository" }, { withoutLocalHooks: true });
  put({ ".cursor/hooks.json": JSON.stringify(observe) });
  await send({ type: "repository" });
});
