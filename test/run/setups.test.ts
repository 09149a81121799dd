// What a run is before it starts: its mode, rules, tools, servers, words about the sandbox, and what it is warned of.
// test/run/setups.txt is the whole table.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { PermissionMode, RunRequest } from "../../src/protocol/run.ts";
import { chooseTools, closedTools } from "../../src/run/choose-tools.ts";
import type { RunHost } from "../../src/run/host.ts";
import { planMcp, rulesOf } from "../../src/run/mcp-plan.ts";
import { openNamedModel } from "../../src/run/models.ts";
import { commandWords, unlistedCommands } from "../../src/run/sandbox.ts";
import { initEvent, type RunSession } from "../../src/run/session.ts";
import { describeSetup, setUp } from "../../src/run/setup.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-setups-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** `files`: below the home, where `~/work` is the project; a value that is no text is JSON. */
type Case = { files?: Record<string, unknown>; request?: Partial<RunRequest>; host?: Partial<RunHost>; gate?: boolean };

const config = (content: object) => ({
  ".cursor/cli-config.json": { version: 1, permissions: { allow: [], deny: [] }, ...content },
});
const servers = (mcpServers: object) => ({ mcpServers });
const project = {
  "work/.cursor/mcp.json": servers({ docs: { command: "docs" }, both: { command: "of-project" } }),
  "work/.cursor/cli.json": { permissions: { allow: ["Shell(make)"], deny: ["Read(secret/**)"] } },
};
const present = { attended: () => true };
const many = Array.from({ length: 9 }, (_, index) => `Shell(tool-${index} ${"x".repeat(index * 4 + 1)})`);
const trusted = { trust: true };

const cases: Record<string, Case> = {
  "an untrusted folder": {},
  "an untrusted folder, where nobody asks": { gate: false },
  "force, without trust": { request: { force: true }, files: project },
  "a folder that holds more than one project": { request: { ...trusted, workspace: "~" } },
  "a folder that is not there": { request: { ...trusted, workspace: "~/none" } },
  "a file for a folder": { request: { ...trusted, roots: ["~/work/a.txt"] } },
  "more roots": { request: { ...trusted, roots: ["~/other"] } },
  "plan mode wins over force": { request: { ...trusted, mode: "plan", force: true } },
  "ask mode": { request: { ...trusted, mode: "ask" } },
  "a mode by the settings": { request: trusted, files: config({ approvalMode: "unrestricted" }) },
  "rules of all sides": {
    request: { ...trusted, permissions: { allow: ["Shell(ls)"], deny: ["Write(**)"] } },
    files: { ...project, ...config({ permissions: { allow: ["Shell(git)"], deny: ["Shell(rm)"] } }) },
  },
  "more rules than are named": { request: { ...trusted, permissions: { allow: many } } },
  "a rule for fetching": { request: { ...trusted, permissions: { allow: ["WebFetch(a.test)"] } } },
  "a rule against fetching": { request: { ...trusted, permissions: { deny: ["WebFetch(a.test)"] } } },
  "searches that the settings accept": { request: trusted, files: config({ autoAcceptWebSearch: true }) },
  "a reviewer": { request: { ...trusted, autoReview: true } },
  "a reviewer by the settings": { request: trusted, files: config({ approvalMode: "auto-review" }) },
  "a command that is asked": { request: { ...trusted, askCommand: "true" } },
  "a sandbox for everything": { request: { ...trusted, sandbox: "enabled" } },
  "no sandbox": { request: { ...trusted, sandbox: "disabled" } },
  "a sandbox that may only read": {
    request: { ...trusted, sandbox: "enabled" },
    files: { ".cursor/sandbox.json": { type: "workspace_readonly", networkPolicy: { default: "deny" } } },
  },
  "somebody who is present": { request: trusted, host: present },
  "somebody who is present, and unlisted commands in the sandbox": {
    request: { ...trusted, unlistedCommands: "sandbox" },
    host: present,
  },
  limits: { request: { ...trusted, limits: { maxTurns: 7, maxTimeMs: 1000, maxCost: 2 } } },
  "a limit of the settings": { request: trusted, files: { ".cursor/courser.json": { maxTurns: 3 } } },
  "fewer tools": { request: { ...trusted, allowedTools: ["Read", "shell"], disallowedTools: ["Shell"] } },
  "a key of Cursor": { request: trusted, host: { apiKey: " key_0123456789abcdef " }, files: {} },
  "a server without a certificate": { request: trusted, host: { insecure: true } },
  "servers of all scopes": {
    request: {
      ...trusted,
      mcpConfigs: [
        JSON.stringify(
          servers({ flag: { command: "f", alwaysAllow: ["run"] }, off: { url: "http://x", disabled: true } }),
        ),
        "~/more.json",
      ],
    },
    files: {
      ...project,
      ".cursor/mcp.json": servers({
        mine: { command: "m", alwaysAllow: ["look"] },
        both: { command: "of-user" },
        bad: { args: [] },
      }),
      "more.json": servers({ more: { url: "https://example.com/mcp" }, flag: { command: "again" } }),
    },
  },
  "servers that are approved by name": { request: { ...trusted, approvedServers: ["docs"] }, files: project },
  "servers that are all approved": { request: { ...trusted, approvedServers: "all" }, files: project },
  "a server that is not there": { request: { ...trusted, approvedServers: ["dcos"] }, files: project },
  "no JSON for servers": { request: { ...trusted, mcpConfigs: ["{"] } },
  "a list for servers": { request: { ...trusted, mcpConfigs: ["[]"] } },
  "a file of servers that is not there": { request: { ...trusted, mcpConfigs: ["~/none.json"] } },
  "a model that is not there": { request: { ...trusted, model: "nope" } },
  "a limit of cost with a price of its own": {
    request: { ...trusted, limits: { maxCost: 1 }, price: { input: 1, output: 2 } },
  },
};

let count = 0;
async function seen({ files = {}, request = {}, host = {}, gate = true }: Case): Promise<string[]> {
  const home = join(base, `home-${++count}`);
  const own = (text: string) => text.replace(/^~/, home);
  for (const [name, content] of Object.entries({ "work/a.txt": "a", "other/b.txt": "b", ...files })) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const { workspace = "~/work", roots = [], mcpConfigs = [] } = request;
  const asked = {
    model: "offline",
    ...request,
    workspace: own(workspace),
    roots: roots.map(own),
    mcpConfigs: mcpConfigs.map(own),
  };
  const env = { HOME: home, PATH: "/usr/bin:/bin" };
  const setup = await setUp(asked as RunRequest, { program: "courser", version: "1", env, ...host }, { gate });
  const plan = planMcp({ ...asked, env, workspace: setup.workspace, configDir: setup.configDir, home });
  const init = initEvent(setup, { id: "s-1", mode: setup.mode } as RunSession, plan) as { policyHash?: string };
  const modes: PermissionMode[] = ["default", "force", "plan", "ask"];
  const words = await commandWords(setup, unlistedCommands(setup));
  const all = chooseTools({}, { mode: "default", hasServers: false });
  const tools = chooseTools(setup.request, { mode: setup.mode, hasServers: false });
  const line = (name: string, value: unknown) => `${name} ${JSON.stringify(value)}`;
  return [
    ...describeSetup(setup).slice(1),
    line("trusted", setup.trusted),
    line("limits", setup.limits),
    ...setup.rules.map(({ verdict, text, scope, source }) => `rule: ${verdict} ${text} of ${scope}: ${source}`),
    line(
      "tools left out",
      all.filter((tool) => !tools.includes(tool)).map(({ name }) => name),
    ),
    line("init", { ...init, ...(init.policyHash && { policyHash: init.policyHash.length }) }),
    line(
      "closed tools",
      modes.map((mode) => closedTools(setup, mode)),
    ),
    line("unlisted commands", unlistedCommands(setup)),
    ...modes.map((mode) => `commands in ${mode} mode: ${words(mode) ?? "nothing is said"}`),
    ...plan.servers.map(({ server, standing }) => `server ${server.name} of ${server.scope}: ${standing}`),
    ...[...setup.warnings, ...plan.warnings].map((warning) => `warning: ${warning}`),
    ...(rulesOf(plan).length > 0 ? [line("rules of servers", rulesOf(plan))] : []),
  ].map((each) => each.replaceAll(home, "~"));
}

it("the setup of a run before its start is as listed in the table", async () => {
  const usual = await seen({ request: trusted });
  const rows = ["a trusted folder", ...usual.map((line) => `  ${line}`), "", "what is otherwise"];
  for (const [name, each] of Object.entries(cases)) {
    const lines = await seen(each).catch((error: Error & { code?: string }) => [
      `${error.code}: ${error.message.replaceAll(join(base, `home-${count}`), "~").replaceAll("\n", "⏎")}`,
    ]);
    rows.push(name, ...lines.filter((line) => !usual.includes(line)).map((line) => `  ${line}`));
  }
  rows.push("", "another model in the middle of a run");
  const home = join(base, "home-models");
  mkdirSync(home);
  const env = { HOME: home, PATH: "/usr/bin:/bin", ANTHROPIC_API_KEY: "sk-ant-own", OLLAMA_HOST: "http://127.0.0.1:9" };
  for (const own of ["offline", "opus", "ollama/llama3"])
    for (const [name, by, effort] of [
      ["opus", "user", undefined],
      ["opus", "agent", "high"],
      ["opus", "user", "minimal"],
      ["offline", "user", undefined],
      ["offline", "agent", undefined],
      ["ollama/qwen3", "agent", undefined],
      ["nope", "user", undefined],
    ] as const) {
      const request = { workspace: home, model: own, force: true, limits: { maxCost: 5 } };
      const opened = setUp(request, { program: "courser", version: "1", env })
        .then((setup) => openNamedModel(setup, { name, by, ...(effort && { effort }) }))
        .then(
          ({ model: { displayName, effort: level } }) => `${displayName}${level ? `, ${level}` : ""}`,
          (error: Error) => error.message,
        );
      rows.push(`  ${own} → ${name} by the ${by}${effort ? ` with effort ${effort}` : ""}: ${await opened}`);
    }
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "setups.txt"));
});
