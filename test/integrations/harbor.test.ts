// The agent class for Harbor. Harbor itself is not here: what it would be told to run is made by the class, over a stand-in
// for its base, and then run.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isObject, tryParse } from "../../src/json/object.ts";
import { harborRules } from "../../src/testing/conformance/harbor.ts";
import type { Trial } from "../../src/testing/conformance/trials.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

const missing = spawnSync("python3", ["--version"]).status !== 0 && "there is no python3 here";
const place = createWorkspace({ "a.txt": "Hello\n" });
afterAll(() => place.remove());

/** The parts of Harbor that the class stands on, by their names. */
const stand: Record<string, string> = {
  "harbor/__init__.py": "",
  "harbor/agents/__init__.py": "",
  "harbor/agents/installed/__init__.py": "",
  "harbor/agents/installed/base.py": "def with_prompt_template(run):\n    return run\n",
  "harbor/agents/installed/cursor_cli.py": `
import os
from types import SimpleNamespace


class Options:
    mode = None
    reasoning_effort = None

    @classmethod
    def check(cls, given):
        unknown = [name for name in given if not hasattr(cls, name)]
        if unknown:
            raise ValueError(f"Unknown option '{unknown[0]}'.")
        options = cls()
        options.__dict__.update(given)
        return options


class CursorCli:
    _OUTPUT_FILENAME = "cursor-cli.txt"
    options_model = Options

    @classmethod
    def preflight(cls, kwargs):
        cls.options_model.check(kwargs)

    def __init__(self, model_name=None, servers=None, extra_env=None, **kwargs):
        self.model_name, self._servers, self._extra_env = model_name, servers, extra_env or {}
        self.options = self.options_model.check(kwargs)

    def _get_env(self, name):
        return self._extra_env.get(name, os.environ.get(name))

    def _convert_events_to_trajectory(self, events):
        return SimpleNamespace(agent=SimpleNamespace(name="cursor-cli"))

    def build_cli_flags(self):
        return f"--mode {self.options.mode}" if self.options.mode else ""

    async def ensure_system_dependencies(self, environment, names):
        pass

    async def exec_as_agent(self, environment, command, env=None):
        environment.append({"command": command, "env": env or {}})

    def _build_register_skills_command(self):
        return None

    def _build_register_mcp_servers_command(self):
        return self._servers
`,
  "drive.py": `
import asyncio, json, sys
from courser_agent import CourserAgent, KEYS

given = json.load(sys.stdin)
framework = ("model_name", "servers", "extra_env")
CourserAgent.preflight({name: value for name, value in given["kwargs"].items() if name not in framework})
agent = CourserAgent(**given["kwargs"])
installed, started = [], []
asyncio.run(agent.install(installed))
asyncio.run(agent.run(given["instruction"], started, None))
print(json.dumps({"name": agent.name(), "version": agent.get_version_command(), "keys": KEYS, "trajectory": agent._convert_events_to_trajectory([]).agent.name, "installed": installed, "started": started}))
`,
};

type Executed = { command: string; env: Record<string, string> };
type Told = {
  name: string;
  trajectory: string;
  version: string;
  keys: string[];
  installed: Executed[];
  started: Executed[];
};

function drive(instruction: string, kwargs: object, env: Record<string, string> = {}): Told {
  for (const [name, text] of Object.entries(stand)) place.file(join("../python", name), text);
  const run = spawnSync("python3", ["drive.py"], {
    cwd: join(place.path, "../python"),
    input: JSON.stringify({ instruction, kwargs }),
    env: { ...place.env, ...env, PYTHONPATH: join(repository, "integrations/harbor"), PYTHONDONTWRITEBYTECODE: "1" },
    encoding: "utf8",
  });
  expect(run.stderr).toBe("");
  return JSON.parse(run.stdout) as Told;
}

/** In a home where it is installed, with logs that are not at the root. */
function execute({ command, env }: Executed) {
  const logs = join(place.path, "../logs");
  mkdirSync(join(logs, "agent"), { recursive: true });
  const own = command.replaceAll("/logs/agent/", `${logs}/agent/`);
  const run = spawnSync("bash", ["-c", own], { cwd: place.path, env: { ...place.env, ...env }, encoding: "utf8" });
  return { ...run, log: () => readFileSync(join(logs, "agent/cursor-cli.txt"), "utf8") };
}

function installCli(): void {
  const bin = join(place.home, ".courser/bin");
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, "courser"))) symlinkSync(cli, join(bin, "courser"));
}

describe.skipIf(missing)(orSkipped("Courser in Harbor", missing), () => {
  it("the Harbor agent is installed from npm, where Harbor finds its version", () => {
    const { installed, version, name, trajectory } = drive("x", { package: "/tmp/it's here.tgz" });
    expect([name, trajectory]).toEqual(["courser", "courser"]);
    const bin = join(place.path, "../bin");
    mkdirSync(bin);
    // An npm that notes what it is asked for, and does it.
    const npm = `#!/bin/sh\nprintf '%s\\n' "$@" > "$HOME/npm.log"\nmkdir -p "$HOME/.courser/bin"\nln -sf ${cli} "$HOME/.courser/bin/courser"\n`;
    writeFileSync(join(bin, "npm"), npm);
    chmodSync(join(bin, "npm"), 0o755);
    const env = { PATH: `${bin}:${place.env["PATH"]}` };
    const install = execute({ command: installed[0]!.command, env });
    expect([install.status, install.stderr]).toEqual([0, ""]);
    expect(readFileSync(join(place.home, "npm.log"), "utf8").split("\n")).toEqual([
      "install",
      "--global",
      "--prefix",
      `${place.home}/.courser`,
      "--no-audit",
      "--no-fund",
      "/tmp/it's here.tgz",
      "",
    ]);
    expect(install.stdout).toBe(execute({ command: version, env: {} }).stdout);
    expect(install.stdout).toMatch(/^\d{4}\.\d\d\.\d\d/);
  });

  it("the Harbor agent's command line runs, and Harbor reads every line", () => {
    installCli();
    const script = place.file(
      "../script.json",
      JSON.stringify([
        {
          thinking: "Hm.",
          text: "Let me look.",
          calls: [
            { name: "Read", args: { path: "a.txt" } },
            { name: "Shell", args: { command: "echo hi" } },
          ],
        },
        { expect: "Hello", text: "It says hello.", usage: { inputTokens: 5, outputTokens: 2 } },
      ]),
    );
    const instruction = `What does "a.txt" say? It's $HOME; \`id\` -- & done\n`;
    const kwargs = {
      model_name: `script:${script}`,
      servers: "mkdir -p ~/.cursor",
      extra_env: { OPENAI_API_KEY: "key-of-the-agent" },
    };
    const { started } = drive(instruction, kwargs, {
      CURSOR_API_KEY: "key-1",
      OPENAI_API_KEY: "key-2",
      OTHER_SECRET: "x",
    });
    expect(started.map(({ command }) => command)).toEqual([kwargs.servers, expect.stringContaining("courser --yolo")]);
    expect(started[1]!.env).toEqual({ CURSOR_API_KEY: "key-1", OPENAI_API_KEY: "key-of-the-agent" });
    execute(started[0]!);
    const run = execute(started[1]!);
    expect(run.log()).toBe(run.stdout);
    const lines = run.stdout.split("\n").filter(Boolean);
    const trial = {
      ...{ args: [], exit: run.status, signal: "", stdout: run.stdout, stderr: run.stderr, timedOut: false },
      ...{ wasSignalled: false, endMs: 0 },
      lines: lines.map((text, index) => {
        const value = tryParse(text);
        return { number: index + 1, text, value: isObject(value) ? value : undefined, atMs: 0 };
      }),
    } satisfies Trial;
    for (const rule of harborRules)
      expect([rule.id, rule.check(trial, undefined as never)]).toEqual([rule.id, undefined]);
    const [init, user, ...rest] = trial.lines.map(({ value }) => value as any);
    expect(init).toMatchObject({ type: "system", apiKeySource: "env", permissionMode: "force" });
    expect(user.message.content[0].text).toBe(instruction);
    expect(rest.at(-1)).toMatchObject({ type: "result", is_error: false, usage: { outputTokens: 2 } });
    expect(rest.filter(({ subtype }) => subtype === "completed").length).toBeGreaterThanOrEqual(2);
  });

  it("the Harbor agent passes on mode and effort", () => {
    const { started } = drive("go", { model_name: "openai/gpt-5", mode: "plan", reasoning_effort: "max" });
    expect(started[0]!.command).toContain(
      "courser --yolo --print --output-format=stream-json --mode plan --model=openai/gpt-5 --effort=high -- go </dev/null",
    );
  });

  it("the Harbor agent knows the keys of every vendor", () => {
    const catalog = readFileSync(join(repository, "src/model/catalog.ts"), "utf8");
    const names = new Set([...catalog.matchAll(/"([A-Z_]+_(?:API_KEY|TOKEN))"/g)].map(([, name]) => name!));
    const { keys } = drive("go", {});
    expect([...names].filter((name) => !keys.includes(name))).toEqual([]);
  });
});
