// The world of an MCP case: a workspace with servers in it, and two ways to start them and to call their tools.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startServers } from "../../src/agent/mcp/servers.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import { builtInTools, findTool } from "../../src/agent/tools/index.ts";
import { ToolFailure } from "../../src/agent/tools/tool.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { parseCommandLine } from "../../src/cli/flags.ts";
import { serverFlags } from "../../src/cli/run-request.ts";
import { decide } from "../../src/policy/decide.ts";
import type { Verdict } from "../../src/policy/need.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import { planMcp } from "../../src/run/mcp-plan.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { trust } from "../../src/store/trust.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { toolContext } from "../support/tool-context.ts";

export type WorldConfig = {
  mode?: "default" | "print" | "force";
  trusted?: boolean;
  /** Where servers are written to. */
  scope?: "user" | "project";
  flags?: string[];
  env?: Record<string, string>;
  allow?: string[];
  deny?: string[];
};

export type Call = { name: string; args: Record<string, unknown> };

/** What one call came to: `result` of a call that ran. */
export type CallSeen = { verdict: Verdict; routedTo?: string; result?: "success" | "error"; text: string };

export type RunSeen = {
  /** The project's or the user's server was started, or would have been connected to. */
  started: boolean;
  /** The servers that wait for it; all of them in a workspace that is not trusted. */
  needsApproval: string[];
  warned: boolean;
  calls: CallSeen[];
  /** The run came to its end by itself. */
  ended: boolean;
  /** How often the server was started. */
  starts: number;
  ms: number;
};

const fixture = join(repository, "test/support/mcp-server.mjs");

export class World {
  readonly place: Workspace;
  readonly config: WorldConfig;
  readonly allow: string[];
  #modes: string[] = [];

  constructor(config: WorldConfig) {
    this.config = config;
    this.place = createWorkspace();
    this.allow = [...(config.allow ?? [])];
    this.file(join(this.place.config, "courser.json"), JSON.stringify({ mcpStartMs: 5000, mcpCallMs: 1500 }));
    if (config.trusted !== false) trust(this.place.config, this.place.path);
    this.behave();
  }

  file(path: string, text: string): string {
    return this.place.file(path, text);
  }

  get log(): string {
    return join(this.place.home, "started");
  }

  holds(file: string): boolean {
    return existsSync(join(this.place.path, file));
  }

  /** How `server.js` of the workspace behaves from now on; the file itself stays the same, for it is approved by hash. */
  behave(...modes: string[]): void {
    this.#modes.push(...modes);
    const all = [`log=${this.log}`, ...this.#modes];
    writeFileSync(join(this.place.home, "modes.json"), JSON.stringify(all));
    if (existsSync(join(this.place.path, "server.js"))) return;
    const modesFile = JSON.stringify(join(this.place.home, "modes.json"));
    this.file(
      "server.js",
      `process.argv.push(...require(${modesFile}));\nimport(${JSON.stringify(`file://${fixture}`)});\n`,
    );
  }

  /** Text that a mode of the server reads from a file. */
  behaveWith(mode: string, text: string): void {
    const path = join(this.place.home, mode);
    const isNew = !existsSync(path);
    writeFileSync(path, text);
    if (isNew) this.behave(`${mode}=${path}`);
  }

  saveRules(): void {
    const permissions = { allow: this.allow, deny: this.config.deny ?? [] };
    this.file(join(this.place.config, "cli-config.json"), JSON.stringify({ version: 1, permissions }));
  }

  starts(): number {
    return existsSync(this.log)
      ? readFileSync(this.log, "utf8")
          .split("\n")
          .filter((line) => /^\d+$/.test(line)).length
      : 0;
  }

  setup() {
    const { path: workspace, config: configDir, home, env } = this.place;
    const line = parseCommandLine(this.config.flags ?? [], commands);
    return { env: { ...env, ...this.config.env }, workspace, configDir, home, ...serverFlags(line.flags) };
  }
}

/** In this process, with the parts that the CLI is made of. */
export async function runInLibrary(world: World, calls: readonly Call[]): Promise<RunSeen> {
  const began = performance.now();
  const { config, place } = world;
  const before = world.starts();
  const setup = world.setup();
  const mayRun = config.trusted !== false || config.mode === "force";
  let plan: ReturnType<typeof planMcp>;
  try {
    plan = planMcp(setup);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return refusedRun(projectServers(place));
  }
  const waiting = plan.servers.filter(({ standing }) => !mayRun || standing === "needs-approval");
  const toStart = plan.servers.filter(({ standing }) => standing === "pending").map(({ server }) => server);
  const processes = createProcessRunner({ env: setup.env });
  const warnings: string[] = [...plan.warnings];
  const servers = startServers(mayRun ? toStart : [], {
    ...setup,
    env: setup.env,
    version: "1",
    processes,
    requests: { roots: [place.path], refused: (message) => warnings.push(message) },
    limits: { startMs: 5000, callMs: 1500 },
    warn: (message) => warnings.push(message),
  });
  const seen: CallSeen[] = [];
  try {
    await servers.ready();
    const settings = loadSettings({
      configDir: place.config,
      workspace: place.path,
      trusted: config.trusted !== false,
    });
    const situation = {
      mode: config.mode === "force" ? ("force" as const) : ("default" as const),
      interactive: config.mode !== "print",
      workspace: place.path,
      roots: [],
      home: place.home,
      configDir: place.config,
      rules: settings.rules,
      sandbox: "off" as const,
      searchPath: process.env["PATH"] ?? "",
    };
    for (const { name, args } of calls) {
      const tool = findTool([...builtInTools, ...servers.tools], name);
      if (!tool) {
        seen.push({ verdict: "deny", text: `there is no tool ${name}` });
        continue;
      }
      const context = toolContext(place.path, { processes });
      const { verdict, reasons } = await decide(tool.needs(args, context), situation);
      const routedTo = tool.mcp ? `mcp:${tool.mcp.server}` : tool.name;
      if (verdict !== "allow") seen.push({ verdict, routedTo, text: reasons.join(" ") });
      else
        seen.push(
          await tool.run(args, context).then(
            ({ text, outcome }) => ({
              verdict,
              routedTo,
              result: outcome.kind === "success" ? "success" : "error",
              text,
            }),
            (error: unknown) => {
              if (!(error instanceof ToolFailure)) throw error;
              return { verdict, routedTo, result: "error", text: error.message };
            },
          ),
        );
    }
  } finally {
    await servers.end();
    await processes.endAll();
  }
  const starts = world.starts() - before;
  const isRemote = toStart.some(({ transport }) => transport !== "stdio");
  return {
    started: starts > 0 || (mayRun && isRemote),
    needsApproval: waiting.map(({ server }) => server.name),
    warned: warnings.length > 0,
    calls: seen,
    ended: true,
    starts,
    ms: performance.now() - began,
  };
}

/** The built CLI, with a model that makes the calls. */
export async function runInCli(world: World, calls: readonly Call[]): Promise<RunSeen> {
  const { config, place } = world;
  const before = world.starts();
  const script = join(place.home, "script.json");
  writeFileSync(script, JSON.stringify([...calls.map((call) => ({ calls: [call] })), { text: "the end" }]));
  const run = await place.run(
    [
      ...["-p", "--output-format", "stream-json", "--model", `script:${script}`, "--sandbox", "disabled"],
      ...(config.mode === "force" ? ["--force"] : []),
      ...(config.flags ?? []),
      "go",
    ],
    { env: config.env ?? {} },
  );
  const lines = run.lines();
  const listed = (lines[0]?.["mcp_servers"] ?? []) as { name: string; status: string }[];
  const ends = lines.filter((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  const starts = world.starts() - before;
  const mayRun = lines[0]?.["subtype"] === "init";
  const isRemote = listed.some(({ status }) => status === "pending") && starts === 0;
  return {
    started: starts > 0 || isRemote,
    needsApproval: mayRun
      ? listed.filter(({ status }) => status === "needs-approval").map(({ name }) => name)
      : projectServers(place),
    warned: run.stderr.includes("Warning:"),
    calls: ends.map((line) => callSeen(line["tool_call"])),
    ended: lines.at(-1)?.["result"] === "the end",
    starts,
    ms: run.ms,
  };
}

/** The command line was wrong: nothing was started, nothing approved. */
function refusedRun(needsApproval: string[]): RunSeen {
  return { started: false, needsApproval, warned: true, calls: [], ended: false, starts: 0, ms: 0 };
}

function callSeen(call: Record<string, any>): CallSeen {
  const [key, body] = Object.entries(call).find(([name]) => name.endsWith("ToolCall"))!;
  const { success, rejected, error } = body.result;
  const server = body.args.providerIdentifier;
  const routedTo = server ? `mcp:${server}` : key;
  const text = JSON.stringify(success ?? rejected ?? error ?? body.result);
  // On the wire both are `rejected`: what a rule denies names the rule, what would be asked names the print mode.
  if (rejected) return { verdict: text.includes("Nobody can be asked") ? "ask" : "deny", routedTo, text };
  if (error && /There is no tool named/.test(text)) return { verdict: "deny", routedTo, text };
  const unquoted = success?.content?.[0]?.text?.text ?? text;
  return { verdict: "allow", routedTo, result: success ? "success" : "error", text: unquoted };
}

function projectServers({ path }: Workspace): string[] {
  const file = join(path, ".cursor/mcp.json");
  return existsSync(file) ? Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers) : [];
}
