// What rules allow, once the chat has changed the workspace, with the built program: it runs in the sandbox, and reaches nothing outside.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { explain } from "../../src/policy/explain.ts";
import { lint } from "../../src/policy/lint/index.ts";
import { parseRule } from "../../src/policy/rules.ts";
import { sandboxMissing } from "../agent/sandbox-fixture.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { everydayCommands, everydayRules } from "./everyday.ts";
import { makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let workspace: Workspace;
afterEach(() => workspace?.remove());

const write = (path: string, content: string) => ({ calls: [{ name: "Write", args: { path, content } }] });
const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const leaves = (name: string) => `#!/bin/sh\ntouch "$HOME/${name}"\n`;

function start(permissions: object, files: Record<string, string> = {}): void {
  workspace = createWorkspace({ "a.json": "{}", ...files });
  mkdirSync(workspace.config, { recursive: true });
  writeFileSync(join(workspace.config, "cli-config.json"), JSON.stringify({ version: 1, permissions }));
}

/** Without --force, and with nobody to ask. */
async function play(replies: readonly object[], args: readonly string[] = []) {
  const script = join(workspace.home, "script.json");
  writeFileSync(script, JSON.stringify([...replies, { text: "done" }]));
  const fixed = ["-p", "--trust", "--output-format", "stream-json", "--model", `script:${script}`, ...args, "go"];
  const run = await workspace.run(fixed, { timeoutMs: 60_000 });
  const calls = run.lines().filter((line) => line["subtype"] === "completed" && line["tool_call"]?.shellToolCall);
  return { ...run, results: calls.map((line) => line["tool_call"].shellToolCall.result) };
}

const left = () => readdirSync(workspace.home).filter((name) => name.startsWith("left-"));

describe.skipIf(sandboxMissing())("a command that a rule allows", () => {
  const allow = ["Shell(npm test)", "Shell(make)", "Shell(python3 -m json.tool)", "Shell(node)", "Shell(git commit)"];

  it("an allowed command runs in the sandbox once the chat changed the workspace", {
    timeout: 90_000,
  }, async () => {
    start({ allow }, { "package.json": '{"scripts":{"test":"tool"}}' });
    const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace.path });
    git("init", "-q");
    git("config", "core.hooksPath", "hooks");
    const { results } = await play([
      write("evil.sh", leaves("left-npmrc")),
      write("node_modules/.bin/tool", leaves("left-bin")),
      write("more.mk", 'all:\n\ttouch "$(HOME)/left-make"\n'),
      write("Makefile", "include more.mk\n"),
      write("json/__init__.py", ""),
      write("json/tool.py", 'import os\nopen(os.environ["HOME"] + "/left-json", "w")\n'),
      write("x.js", 'require("fs").writeFileSync(process.env.HOME + "/left-node", "")\n'),
      write("hooks/pre-commit", leaves("left-hook")),
      shell("chmod +x evil.sh hooks/pre-commit node_modules/.bin/tool; echo script-shell=./evil.sh > .npmrc"),
      shell("npm test"),
      shell("make"),
      shell("python3 -m json.tool a.json"),
      shell("node x.js"),
      shell("git commit --allow-empty -m x"),
    ]);
    expect(results).toHaveLength(6);
    expect(left()).toEqual([]);
  });

  it("an allowed command runs outside the sandbox before a change, with --sandbox disabled, or if listed", {
    timeout: 90_000,
  }, async () => {
    const files = { "x.js": 'require("fs").writeFileSync(process.env.HOME + "/" + process.argv[2], "")\n' };
    start({ allow: ["Shell(node)"] }, files);
    await play([shell("node x.js left-1"), write("b.txt", "x"), shell("node x.js left-2")]);
    expect(left()).toEqual(["left-1"]);
    await play([write("b.txt", "y"), shell("node x.js left-3")], ["--sandbox", "disabled"]);
    expect(left()).toEqual(["left-1", "left-3"]);
    workspace.remove();
    start({ allow: ["Shell(node)"], unconfined: ["Shell(node x.js)"] }, files);
    await play([write("b.txt", "x"), shell("node x.js left-4"), shell("node ./x.js left-5")]);
    expect(left()).toEqual(["left-4"]);
  });

  it("an allowed command runs in the sandbox in a resumed chat, and after a sandboxed command", {
    timeout: 90_000,
  }, async () => {
    const files = { "x.js": 'require("fs").writeFileSync(process.env.HOME + "/" + process.argv[2], "")\n' };
    start({ allow: ["Shell(node)"] }, files);
    const first = await play([{ text: "hello" }]);
    const id = first.lines()[0]!["session_id"] as string;
    await play([shell("node x.js left-1")], ["--resume", id]);
    expect(left()).toEqual([]);
    await play([shell("ls"), shell("node x.js left-2"), shell("touch made"), shell("node x.js left-3")]);
    expect(left()).toEqual(["left-2"]);
  });

  it("a command runs in the sandbox after, beside or behind an allowed command that changes the workspace", {
    timeout: 90_000,
  }, async () => {
    const evil = (name: string) => `t:\n\ttouch $(HOME)/left-${name}\n`;
    const change = (name: string) =>
      `patch -s <<'EOF'\n--- Makefile\n+++ Makefile\n@@ -1,2 +1,2 @@\n t:\n-\t@true\n+\ttouch $(HOME)/left-${name}\nEOF\n`;
    const makefile = { Makefile: "t:\n\t@true\n" };
    const attempts: { replies: object[]; allow: string[]; files?: Record<string, string> }[] = [
      { allow: ["Shell(patch)", "Shell(make)"], replies: [shell(change("next")), shell("make t")] },
      { allow: ["Shell(patch)", "Shell(make)"], replies: [shell(`${change("line")}make t`)] },
      {
        allow: ["Shell(node watch.js)"],
        files: { "watch.js": "setInterval(() => { try { require('./late.js') } catch {} }, 50)" },
        replies: [
          { calls: [{ name: "Shell", args: { command: "node watch.js", isBackground: true } }] },
          write("late.js", "require('fs').writeFileSync(process.env.HOME + '/left-watched', '')"),
          { calls: [{ name: "Await", args: { taskId: "shell_1", timeout: 1 } }] },
          { calls: [{ name: "Await", args: { taskId: "shell_1", kill: true } }] },
        ],
      },
      {
        allow: ["Shell(make slow)"],
        files: { Makefile: "slow:\n\tsleep 2; $(MAKE) -f Late t\n" },
        replies: [
          {
            calls: [
              { name: "Shell", args: { command: "make slow" } },
              { name: "Task", args: { description: "work", prompt: "work", subagent_type: "generalPurpose" } },
            ],
          },
          write("Late", evil("beside")),
          { text: "written" },
        ],
      },
    ];
    for (const { replies, allow: rules, files } of attempts) {
      start({ allow: rules }, files ?? makefile);
      const { exit } = await play(replies);
      expect({ exit, left: left() }).toEqual({ exit: 0, left: [] });
      workspace.remove();
    }
    // One that changes nothing leaves the next one as it is.
    start(
      { allow: ["Shell(node)"] },
      { "x.js": 'require("fs").writeFileSync(process.env.HOME + "/" + process.argv[2], "")\n' },
    );
    await play([shell("node x.js left-1"), shell("node x.js left-2")]);
    expect(left()).toEqual(["left-1", "left-2"]);
  });

  it("a command that failed in the sandbox says which line to add, and a project cannot add it", {
    timeout: 90_000,
  }, async () => {
    start({ allow: ["Shell(node)"] }, { ".cursor/cli.json": '{"permissions":{"unconfined":["Shell(node)"]}}' });
    const note = 'the user adds to cli-config.json: "permissions": {"unconfined": ["Shell(node)"]}';
    const run = await play([
      write("x.js", 'require("fs").writeFileSync("/etc/left-1", "")\n'),
      shell("node x.js"),
      { expect: [note], text: "I see." },
    ]);
    expect(run.exit).toBe(0);
    expect(run.stderr + run.notices()).toContain('"permissions.unconfined" is ignored');
  });

  it("a command in the sandbox has writable caches and no API keys", { timeout: 90_000 }, async () => {
    start({ allow: ["Shell(node)"] });
    mkdirSync(join(workspace.home, ".ssh"));
    writeFileSync(join(workspace.home, ".ssh/id_ed25519"), "secret-key\n");
    chmodSync(join(workspace.home, ".ssh/id_ed25519"), 0o600);
    const code = `
      const fs = require("fs");
      for (const name of ["npm_config_cache", "GOMODCACHE", "CARGO_HOME", "PIP_CACHE_DIR", "XDG_CACHE_HOME"]) {
        fs.mkdirSync(process.env[name], { recursive: true });
        fs.writeFileSync(process.env[name] + "/x", "");
      }
      try { console.log(fs.readFileSync(process.env.HOME + "/.ssh/id_ed25519", "utf8")); } catch (error) { console.log(error.code); }
      console.log("proxied:" + Boolean(process.env.HTTPS_PROXY));`;
    const { results } = await play([write("x.js", code), shell("node x.js")]);
    const { stdout, exitCode } = results[0].success;
    expect({ stdout, exitCode }).toEqual({ stdout: expect.stringMatching(/^E\w+\nproxied:true\n$/), exitCode: 0 });
    expect(existsSync(join(workspace.home, ".ssh/id_ed25519"))).toBe(true);
  });
});

describe("confinement in the policy", () => {
  const fixture = makeFixture();
  const print = { interactive: false, sandbox: "unlisted", changed: true } as const;
  const judge = (command: string, changes: Partial<Situation>) =>
    decide([{ kind: "Shell", target: command }], situationOf(fixture, changes));

  it("allowed commands move to the sandbox only if nobody can be asked and a sandbox is used", async () => {
    const rules = rulesOf({ allow: ["Shell(npm test)"] });
    expect(await judge("npm test", { ...print, rules })).toMatchObject({
      verdict: "allow",
      confined: true,
      withNetwork: ["Shell(npm test)"],
    });
    for (const other of [{ interactive: true }, { changed: false }, { sandbox: "off" }, { mode: "force" }] as const)
      expect((await judge("npm test", { ...print, rules, ...other })).confined).toBeUndefined();
    removeFixture(fixture);
  });

  it.each([
    "unzip -: a.zip",
    'sqlite3 ../x "create table a(b)"',
    "gcc -MF ../x a.c",
    "gcc -MF../x a.c",
    "git bugreport -o ..",
    "git diagnose -o ..",
    "yarn node -e 1",
    "pytest -p evil",
    "eslint -c evil.js src",
    "prettier --plugin ./evil.js src",
    "prettier --config evil.mjs src",
  ])("an allow rule for the program does not cover %s, even before any change", async (command) => {
    const own = makeFixture();
    const rules = rulesOf({ allow: [`Shell(${command.split(" ")[0]})`] });
    const situation = situationOf(own, { interactive: false, rules });
    expect((await decide([{ kind: "Shell", target: command }], situation)).verdict).toBe("ask");
    removeFixture(own);
  });

  it("permissions explain tells when a command will run in the sandbox, and lint checks the exceptions", async () => {
    const own = makeFixture();
    const rules = rulesOf({ allow: ["Shell(npm test)"] });
    const need = { kind: "Shell", target: "npm test" } as const;
    const before = await explain(need, situationOf(own, { ...print, rules, changed: false }));
    expect(before).toMatchObject({ verdict: "allow", confinedLater: true });
    expect(before.confined).toBeUndefined();
    const entry = (text: string) =>
      ({ verdict: "unconfined", scope: "user", source: "cli-config.json", text }) as const;
    expect("rule" in parseRule("Shell(npm test)", entry("Shell(npm test)"))).toBe(true);
    const entries = [...rules, entry("Shell(npm test)"), entry("Shell(cargo)"), entry("Write(src/**)")];
    expect(lint(entries, situationOf(own)).map(({ rule, kind }) => [rule, kind])).toEqual([
      ["Shell(cargo)", "dead"],
      ["Write(src/**)", "impossible"],
    ]);
    removeFixture(own);
  });

  it("after a change of the workspace, only those everyday commands fail that need more than the sandbox allows", async () => {
    const own = makeFixture();
    const { beyondSandbox, inspectShell } = await import("../../src/policy/judge-shell.ts");
    const situation = situationOf(own, { ...print, rules: rulesOf(everydayRules()) });
    let confined = 0;
    let noticed = 0;
    for (const { command } of everydayCommands()) {
      if (!(await decide([{ kind: "Shell", target: command }], situation)).withNetwork) continue;
      confined++;
      const beyond = beyondSandbox(inspectShell(command, own.workspace, situation), situation);
      if (
        beyond.some((reason) =>
          /^(docker|podman|ssh|scp|rsync|systemctl|sudo|kubectl|helm|brew|apt)\b|outside/.test(reason),
        )
      )
        noticed++;
    }
    console.log(
      `After a change, ${confined} of 1000 everyday commands run confined; about ${noticed} need what is not in the sandbox.`,
    );
    expect(confined).toBeGreaterThan(900);
    expect(noticed).toBeLessThan(300);
    removeFixture(own);
  });
});
