// Options: what is not one is refused, those that are do what they say, and our own CLI is known behind any name.
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/sdk/callbacks/tool.ts";
import { detectCli, getCapabilities } from "../../src/sdk/detect.ts";
import type { CliInfo, DriverRequest } from "../../src/sdk/drivers/driver.ts";
import { driverOf, drivers } from "../../src/sdk/drivers/index.ts";
import { execute } from "../../src/sdk/execute.ts";
import { openLive } from "../../src/sdk/live/open-live.ts";
import { type StartOptions, start } from "../../src/sdk/run.ts";
import type { RunEvent } from "../../src/sdk/run-event.ts";
import { listSessions, loadCursorSession, searchSessions } from "../../src/sdk/sessions/library.ts";
import { shapeOf } from "../../src/sdk/start-options.ts";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";

const workspace = createWorkspace({ "a.txt": "hello\n", "b.txt": "old\n" });
afterAll(() => workspace.remove());
const env = { HOME: workspace.home, CURSOR_CONFIG_DIR: workspace.config };

let scripts = 0;
type Options = Omit<StartOptions, "onStdout" | "onStderr">;
function scripted(replies: unknown, more: Partial<Options> = {}): Options {
  const file = workspace.file(join(workspace.home, `script-${scripts++}.json`), JSON.stringify(replies));
  return { prompt: "go", cwd: workspace.path, executable: cli, trust: true, model: `script:${file}`, env, ...more };
}

const calling = (name: string, args: object) => [{ calls: [{ name, args }] }, { text: "done" }];

async function outcomes(options: StartOptions): Promise<(string | undefined)[]> {
  const run = start(options);
  const kinds: (string | undefined)[] = [];
  for await (const event of run.events) if (event.type === "tool_end") kinds.push(event.outcome?.kind);
  expect((await run.result).outcome).toBe("success");
  return kinds;
}

/** A program in `folder/bin` that starts ours the way package managers do: from a shell, by another path. */
function shim(folder: string, name: string): string {
  const file = workspace.file(join(folder, "bin", name), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("mistakes in SDK calls", () => {
  const wrong: [given: object, message: string][] = [
    [{ allowTools: ["Read"] }, "unknown option 'allowTools'. Did you mean allowedTools?"],
    [{ timeout: 5 }, "unknown option 'timeout'. Here it is timeoutMs."],
    [{ yolo: true }, "unknown option 'yolo'. Here it is permissionMode: 'force'."],
    [{ maxTurns: 3 }, "unknown option 'maxTurns'. Here it is budget: { turns }."],
    [{ quux: 1 }, "unknown option 'quux'."],
    [{ allowedTools: "Read" }, "allowedTools must be a list."],
    [{ permissionMode: "yolo" }, "permissionMode must be one of default, acceptEdits, force, bypassPermissions, plan."],
    [{ mode: "code" }, "mode must be one of agent, plan, ask."],
    [{ tool: "cursr" }, "tool must be one of cursor, claude, codex, gemini, opencode, pi."],
    [{ sandbox: "enabled" }, "sandbox must be true or false."],
    [{ budget: { turn: 3 } }, 'budget has an unknown field "turn" (did you mean "turns"?).'],
    [{ permissions: { deny: ["Bash(rm)"] } }, 'permissions "deny" has a rule that cannot be read: "Bash(rm)" is not'],
    [{ mcpServers: { docs: { cmd: "x" } } }, 'mcpServers has a server "docs" that needs "command"'],
    [{ effort: "extreme" }, "effort must be one of none, minimal, low, medium, high, xhigh, max."],
    [{ agents: { judge: { prompt: "x" } } }, 'agents has a subagent "judge" that needs "description"'],
    [
      { agents: { judge: { description: "x", prompt: "x", tools: [] } } },
      'agents has a subagent "judge" without tools',
    ],
    [{ timeoutMs: "5" }, "timeoutMs must be a number of milliseconds."],
    [{ canUseTool: true }, "canUseTool must be a function."],
    [{ fork: true }, "fork needs a session to copy: give resume as well."],
  ];

  test.each(wrong)("the SDK's start refuses the mistaken call %j", async (given, message) => {
    const options = { prompt: "go", ...given } as Options;
    expect(() => start(options)).toThrow(`start: ${message}`);
    const rejected = await execute(options).catch((error) => error);
    expect(rejected).toMatchObject({ code: "USAGE", message: expect.stringContaining(message) });
  });

  test("every function of the SDK refuses invalid options", async () => {
    const run = start(scripted([{ text: "ok" }]));
    expect(() => run.session.send("go", { cwd: "/" } as object)).toThrow("session.send: unknown option 'cwd'.");
    expect(() => start("go" as never)).toThrow("start takes an object: start({ prompt: '…' }).");
    expect(() => start({} as never)).toThrow("start needs prompt");
    await expect(openLive({ prompt: "x" } as object)).rejects.toThrow("openLive: unknown option 'prompt'.");
    await expect(openLive({ resum: "x" } as object)).rejects.toThrow("Did you mean resume?");
    await expect(listSessions({ limt: 3 } as object)).rejects.toThrow("Did you mean limit?");
    await expect(searchSessions("x", { tools: "claude" } as object)).rejects.toThrow("Did you mean tool?");
    await expect(loadCursorSession("x", { dir: "/" } as object)).rejects.toThrow("unknown option 'dir'");
    await expect(detectCli("codx" as UnifiedTool)).rejects.toThrow("tool must be one of");
    await expect(getCapabilities("cursor", { path: "x" } as object)).rejects.toThrow("unknown option 'path'");
    await run.result;
  });
});

describe("detecting our own CLI", () => {
  test("the SDK recognises our CLI behind a shell shim, with callbacks, tools and fork", async () => {
    const executable = shim(workspace.home, "cursor-agent");
    expect(await detectCli("cursor", { executable, env: { ...process.env, ...env } })).toMatchObject({ isOurs: true });
    const asked: string[] = [];
    const seen: string[] = [];
    const add = tool({
      name: "add",
      schema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
      run: ({ a }) => String(a + 1),
    });
    const replies = [{ calls: [{ name: "sdk-add", args: { a: 41 } }] }, { text: "42" }, { text: "again" }];
    const run = start(
      scripted(replies, {
        executable,
        tools: [add],
        canUseTool: ({ name, cliName }) => asked.push(`${name} ${cliName}`) > 0,
        hooks: { beforeSubmitPrompt: () => void seen.push("prompt") },
      }),
    );
    expect(await run.result).toMatchObject({ outcome: "success", text: "42", losses: [] });
    expect(asked).toEqual(["Mcp MCP:add"]);
    expect(seen).toEqual(["prompt"]);
    const fork = run.session.fork("and now?");
    expect(await fork.result).toMatchObject({ outcome: "success" });
    expect(fork.session.id).not.toBe(run.session.id);
  });

  test("the SDK finds our CLI by a relative PATH, also for another directory", async () => {
    shim(workspace.home, "cursor-agent");
    const path = relative(process.cwd(), join(workspace.home, "bin"));
    const run = start({
      ...scripted([{ text: "here" }]),
      executable: undefined,
      env: { ...env, PATH: `${path}:${process.env["PATH"]}` },
    });
    expect(await run.result).toMatchObject({ outcome: "success", text: "here" });
  });
});

describe("options of our own CLI", () => {
  test("the SDK's permissions allow and deny calls in every mode", async () => {
    const command = { command: "rm b.txt" };
    const no = { permissions: { deny: ["Shell(rm)", "Read(a.txt)"] }, permissionMode: "force" } as const;
    expect(await outcomes(scripted(calling("Shell", command), no))).toEqual(["rejected"]);
    expect(await outcomes(scripted(calling("Read", { path: "a.txt" }), no))).toEqual(["rejected"]);
    const yes = { permissions: { allow: ["Write(**)", "Shell(rm)"] }, sandbox: false };
    expect(await outcomes(scripted(calling("Shell", { command: "rm gone.txt -f" }), yes))).toEqual(["success"]);
  });

  test("the SDK's mode, sandbox, addDirs, disallowedTools and mcpServers take effect", async () => {
    const write = calling("Write", { path: "new.txt", content: "x" });
    expect(await outcomes(scripted(write, { mode: "ask" }))).not.toContain("success");
    expect(existsSync(join(workspace.path, "new.txt"))).toBe(false);
    expect(await outcomes(scripted(write, { disallowedTools: ["Write"] }))).not.toContain("success");
    expect(await outcomes(scripted(calling("Shell", { command: "true" }), { sandbox: false }))).toEqual(["rejected"]);
    const other = join(workspace.home, "other");
    mkdirSync(other, { recursive: true });
    const outside = calling("Write", { path: join(other, "new.txt"), content: "x" });
    expect(await outcomes(scripted(outside))).toEqual(["rejected"]);
    expect(await outcomes(scripted(outside, { addDirs: [other] }))).toEqual(["success"]);
    const server = { command: process.execPath, args: [join(repository, "scripts/tiny-mcp-server.mjs")] };
    const events: RunEvent[] = [];
    const run = start(scripted([{ text: "ok" }], { mcpServers: { tiny: server } }));
    for await (const event of run.events) events.push(event);
    expect(events[0]).toMatchObject({ type: "init", mcpServers: [{ name: "tiny" }] });
  });

  test("a subagent of `agents` has its own prompt and tools, and replaces the project's", async () => {
    workspace.file(".cursor/agents/judge.md", "---\nname: judge\ndescription: x\n---\nBe harsh.\n");
    const task = { name: "Task", args: { description: "d", prompt: "Judge it.", subagent_type: "judge" } };
    const replies = [
      { calls: [task] },
      {
        calls: [
          { name: "Shell", args: { command: "true" } },
          { name: "Read", args: { path: "a.txt" } },
        ],
      },
      { text: "Fair enough." },
      { text: "done" },
    ];
    const judge = { description: 'Judges: "all"', prompt: "Be fair.", tools: ["Read"] };
    const run = start(scripted(replies, { agents: { judge }, permissionMode: "force", effort: "high" }));
    const ends: RunEvent[] = [];
    for await (const event of run.events) if (event.type === "tool_end") ends.push(event);
    expect(await run.result).toMatchObject({ outcome: "success", text: "done", losses: [] });
    expect(JSON.stringify(ends)).toContain("Fair enough.");
    expect(JSON.stringify(ends)).toMatch(/Shell.*(not available|no tool|unknown)/i);
  });

  test("a tool call has one name from its start to the history, and a new file is a Write", async () => {
    const replies = [
      { calls: [{ name: "Write", args: { path: "fresh.txt", content: "1\n" } }] },
      { calls: [{ name: "Edit", args: { path: "fresh.txt", edits: [{ oldText: "1", newText: "2" }] } }] },
      { text: "done" },
    ];
    const used: string[] = [];
    const events: string[] = [];
    const result = await execute({
      ...scripted(replies),
      onToolUse: ({ name }) => void used.push(name),
      onEvent(event) {
        if (event.type === "tool_start" || event.type === "tool_end") events.push(`${event.name} ${event.tool}`);
      },
    });
    expect(used).toEqual(["Write", "Edit"]);
    expect(events).toEqual(["Write edit", "Write edit", "Edit edit", "Edit edit"]);
    const history = await loadCursorSession(result.sessionId!, { cwd: workspace.path, env });
    const blocks = history.flatMap(({ content }) => content);
    expect(blocks.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))).toEqual(used);
  });

  test("the result of a resumed run that fails still names its session", async () => {
    const first = await start(scripted([{ text: "one" }])).result;
    const resume = first.sessionId!;
    const again = await start(scripted([{ error: { kind: "auth", message: "no" } }], { resume })).result;
    expect(again).toMatchObject({ outcome: "error", sessionId: resume });
    const missing = start({ ...scripted([]), executable: "/no/such/cli", resume });
    expect(await missing.result).toMatchObject({ error: { code: "CLI_NOT_FOUND" }, sessionId: resume });
  });
});

describe("each option is a flag, a listed loss, or refused", () => {
  const clis: Record<string, [UnifiedTool, CliInfo]> = {
    courser: ["cursor", { path: "courser", isOurs: true }],
    original: ["cursor", { path: "cursor-agent", isOurs: false }],
    claude: ["claude", { path: "claude", isOurs: false }],
    codex: ["codex", { path: "codex", isOurs: false }],
    gemini: ["gemini", { path: "gemini", isOurs: false }],
  };
  const folder = join(workspace.home, "connection");
  mkdirSync(folder, { recursive: true });

  function said(name: string, more: Partial<DriverRequest>): string {
    const [tool, info] = clis[name]!;
    const request = { prompt: "go", cwd: "/", permissionMode: "default", partial: false, ...more } as DriverRequest;
    try {
      const plain = driverOf(tool).command({ ...request, ...none(more) }, info).args;
      const { args, losses, env = {} } = driverOf(tool).command({ ...request, connection: { folder } }, info);
      const words = args.filter((word, index) => plain[index] !== word || index >= plain.length);
      const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
      return [...words, ...variables, ...losses.map(({ option }) => `loses ${option}`)]
        .join(" ")
        .replaceAll(folder, "F");
    } catch (error) {
      return `refused: ${(error as Error).message}`;
    }
  }

  const none = (more: object) => Object.fromEntries(Object.keys(more).map((key) => [key, undefined]));

  const rows: [option: Partial<DriverRequest>, says: Record<string, RegExp>][] = [
    [
      { sandbox: true },
      {
        courser: /^--sandbox enabled$/,
        original: /--sandbox enabled/,
        claude: /"sandbox":\{"enabled":true,"failIfUnavailable":true\}/,
        codex: /sandbox_mode="workspace-write"/,
        gemini: /^--sandbox$/,
      },
    ],
    [
      { sandbox: false },
      { courser: /--sandbox disabled/, codex: /sandbox_mode="danger-full-access"/, gemini: /GEMINI_SANDBOX=false/ },
    ],
    [
      { mode: "ask" },
      {
        courser: /^--mode ask$/,
        claude: /--permission-mode plan loses mode/,
        codex: /sandbox_mode="read-only"/,
        gemini: /plan loses mode/,
      },
    ],
    [
      { mode: "plan", permissionMode: "force" },
      { codex: /sandbox_mode="read-only"/, claude: /--permission-mode plan/ },
    ],
    [
      { permissions: { allow: ["Shell(git)"], deny: ["Write(/etc/**)", "Mcp(docs:*)"] } },
      {
        courser: /^--allow Shell\(git\) --deny Write\(\/etc\/\*\*\) --deny Mcp\(docs:\*\)$/,
        original: /^refused: .*permissions\.deny, so it cannot be enforced/,
        claude: /"allow":\["Bash\(git:\*\)"\],"deny":\["Edit\(\/\/etc\/\*\*\)","mcp__docs"\]/,
        // A hook enforces what is denied; what is allowed is lost.
        codex: /^loses permissions$/,
        gemini: /^loses permissions$/,
      },
    ],
    [{ permissions: { allow: ["Shell(git)"] } }, { original: /loses permissions/, codex: /loses permissions/ }],
    [
      { mcpServers: { docs: { command: "docs", args: ["-x"], env: { A: "1" } } } },
      {
        courser: /--mcp-config \{"mcpServers":\{"docs".* --approve-mcp docs/,
        original: /--plugin-dir F --approve-mcps/,
        claude: /--mcp-config=.*"type":"stdio".* --allowedTools=mcp__docs/,
        codex: /mcp_servers\.docs\.command="docs" .*mcp_servers\.docs\.env=\{ "A" = "1" \}/,
        gemini: /GEMINI_CLI_SYSTEM_SETTINGS_PATH=F/,
      },
    ],
    [
      { mcpServers: { web: { url: "https://example.com/mcp", headers: { K: "v" } } } },
      { claude: /"type":"http"/, codex: /mcp_servers\.web\.http_headers=\{ "K" = "v" \}/ },
    ],
    [
      { disallowedTools: ["Shell"] },
      { courser: /--disallowed-tools Shell/, claude: /--disallowedTools=Shell/, codex: /^refused/, gemini: /^refused/ },
    ],
    [
      { addDirs: ["/x"] },
      {
        courser: /--add-dir \/x/,
        claude: /--add-dir=\/x/,
        codex: /writable_roots=\["\/x"\]/,
        gemini: /--include-directories \/x/,
      },
    ],
    [
      { effort: "max" },
      {
        courser: /^--effort max$/,
        original: /loses effort$/,
        claude: /^--effort max$/,
        codex: /model_reasoning_effort="xhigh" loses effort/,
        gemini: /^loses effort$/,
      },
    ],
    [
      { agents: { judge: { description: "Judges", prompt: "Be fair." } } },
      {
        courser: /^--plugin-dir F$/,
        original: /^--plugin-dir F$/,
        claude: /--agents=\{"judge":\{"description":"Judges","prompt":"Be fair\."\}\}/,
        codex: /agents\.judge\.description="Judges" -c agents\.judge\.config_file="F\/judge\.toml"/,
        gemini: /^loses agents$/,
      },
    ],
    [
      { agents: { judge: { description: "Judges", prompt: "Be fair.", tools: ["Read"] } } },
      { codex: /^refused: .*agents\.judge\.tools cannot be enforced/ },
    ],
    [
      { answerSchema: { type: "object" } },
      { courser: /--json-schema \{/, claude: /--json-schema=\{/, codex: /--output-schema F/ },
    ],
  ];

  test.each(rows)("each SDK option is a flag, a listed loss, or refused: %j", (option, says) => {
    for (const [name, pattern] of Object.entries(says)) expect(said(name, option), name).toMatch(pattern);
  });

  test("the SDK passes MCP servers to Gemini in a file, and to the original CLI in a plugin", () => {
    said("gemini", { mcpServers: { web: { url: "https://example.com/mcp" } } });
    const settings = JSON.parse(readFileSync(join(folder, "settings.json"), "utf8"));
    expect(settings.mcpServers).toEqual({ web: { httpUrl: "https://example.com/mcp", trust: true } });
    said("original", { mcpServers: { docs: { command: "docs" } } });
    expect(JSON.parse(readFileSync(join(folder, "mcp.json"), "utf8")).mcpServers).toEqual({
      docs: { command: "docs" },
    });
  });

  test("the SDK refuses a missing image for every CLI", () => {
    for (const tool of ["cursor", "claude", "codex", "gemini", "opencode", "pi"] as const)
      expect(() => start({ tool, prompt: "look", images: ["/no/a.png"] }), tool).toThrow("/no/a.png cannot be read");
  });

  test("an option that no version of a CLI supports makes start throw at once", () => {
    expect(() => start({ prompt: "go", tool: "codex", allowedTools: ["x"] })).toThrow(/cannot be enforced/);
    expect(() => start({ prompt: "go", tool: "gemini", resume: "x", fork: true })).toThrow(/no flag for fork/);
  });

  test("Claude Code's structured answer is the value, not its text", () => {
    const request = { prompt: "", cwd: "/", permissionMode: "default", partial: false } as const;
    const line = { type: "result", subtype: "success", is_error: false, result: "", structured_output: { a: 1 } };
    expect(drivers.claude.decoder(request)(line).at(-1)).toMatchObject({ type: "done", structured: { a: 1 } });
  });

  test("the SDK removes $schema from schemas", () => {
    const dialect = "https://json-schema.org/draft/2020-12/schema";
    const shape = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    expect(shapeOf(z.object({ a: z.string() }), undefined).shape).toEqual(shape);
    expect(shapeOf({ $schema: dialect, ...shape }, undefined).shape).toEqual(shape);
    expect(shapeOf(z.any(), { $schema: dialect, ...shape }).shape).toEqual(shape);
  });

  test("the SDK passes a schema to Codex only if its vendor accepts it", () => {
    const open = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    expect(drivers.codex.takesSchema!(open)).toBe(false);
    expect(drivers.codex.takesSchema!({ ...open, additionalProperties: false })).toBe(true);
    expect(drivers.codex.takesSchema!({ ...open, additionalProperties: false, required: [] })).toBe(false);
  });
});
