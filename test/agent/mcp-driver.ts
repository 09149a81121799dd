// Runs a case of the group `mcp`, step by step, in this process or with the built CLI.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { logIn } from "../../src/agent/mcp/login.ts";
import { planMcp } from "../../src/run/mcp-plan.ts";
import { approveServer } from "../../src/store/mcp-approvals.ts";
import { serversIn } from "../../src/store/mcp-servers.ts";
import { runPolicyCase } from "../policy/policy-driver.ts";
import type { Case, CaseDriver, CaseResult } from "../support/case.ts";
import { startOAuthServer } from "../support/oauth-server.ts";
import { type Call, type CallSeen, type RunSeen, runInCli, runInLibrary, World } from "./mcp-world.ts";

type Driver = "library" | "cli";

/** `run`: of the last run. `call`: of its last call. */
type Seen = { run?: RunSeen; call?: CallSeen; firstCall?: CallSeen; opened?: boolean };

type State = { world: World; driver: Driver; calls: Call[]; asked?: string; mustRun: boolean; seen: Seen };

type Step = Record<string, any>;

export const runMcpCase: CaseDriver = async (given, { driver }) => {
  const [first] = given.input["steps"] as Step[];
  // A plain call of a built-in tool: a question for the policy.
  if (first && "tool" in first) return runPolicyCase({ ...given, group: "paths", input: first }, { driver });
  const world = new World(given.config);
  const state: State = { world, driver, calls: [], mustRun: false, seen: {} };
  try {
    await prepare(state, given);
    for (const step of given.input["steps"] as Step[]) {
      const [name, value] = Object.entries(step)[0]!;
      const act = steps[name];
      if (!act) throw new Error(`the step '${name}' is unknown`);
      await act(state, value);
    }
    if (state.mustRun) await runNow(state);
    return judge(given, state);
  } finally {
    world.place.remove();
  }
};

/** What stands there before the first step. */
async function prepare(state: State, { config, input, expect }: Case): Promise<void> {
  const { world } = state;
  // What comes of a call is asked, not whether it may be made: somebody has said yes to it.
  if (["tool_result", "call_succeeds", "env_absent"].some((name) => name in expect)) world.allow.push("Mcp(demo:*)");
  world.saveRules();
  if (config["user_mcp"]) {
    world.file(join(world.place.config, "mcp.json"), JSON.stringify({ mcpServers: config["user_mcp"] }));
    return;
  }
  const steps = input["steps"] as Step[];
  if (steps.some((step) => "write_mcp" in step || "remote" in step)) return;
  const called = calledIn(steps);
  const names = new Set(["demo", ...called.map(({ server }) => server)]);
  writeServers(world, Object.fromEntries([...names].map((name) => [name, { command: "node", args: ["server.js"] }])));
  // Tools that are called exist, unless the case lists them itself.
  const lists = steps.some((step) => "tools_list" in step);
  const tools = called.map(({ tool }) => tool);
  if (!lists && tools.some((tool) => !fixtureTools.has(tool)))
    listTools(
      world,
      [...new Set([...fixtureTools, ...tools])].map((name) => ({ name })),
    );
  if (config["approved"] ?? config["allow"] ?? config["deny"]) for (const name of names) await approve(state, name);
}

function listTools(world: World, tools: readonly object[]): void {
  const whole = tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool }));
  world.behaveWith("tools", JSON.stringify(whole));
}

const fixtureTools = new Set(["add", "env", "fail", "slow", "die"]);

function calledIn(steps: readonly Step[]): { server: string; tool: string }[] {
  return steps.flatMap(({ call, model_then_calls: then }) => {
    if (typeof call === "string") return [{ server: "demo", tool: call }];
    const asked = call ?? then;
    return asked?.server === undefined ? [] : [{ server: asked.server, tool: asked.tool }];
  });
}

function writeServers(world: World, servers: object, scope = world.config.scope ?? "project"): void {
  const file = scope === "user" ? join(world.place.config, "mcp.json") : ".cursor/mcp.json";
  world.file(file, JSON.stringify({ mcpServers: servers }));
}

async function approve({ world, driver }: State, name: string): Promise<void> {
  if (driver === "cli") {
    const run = await world.place.run(["mcp", "enable", name]);
    if (run.exit !== 0) throw new Error(run.stderr);
    return;
  }
  const setup = world.setup();
  const found = planMcp(setup).servers.find(({ server }) => server.name === name && server.scope === "project");
  approveServer(found!.server, setup);
}

const steps: Record<string, (state: State, value: any) => Promise<void> | void> = {
  write_mcp: ({ world }, servers) => writeServers(world, servers),
  write_user_mcp: ({ world }, servers) => writeServers(world, servers, "user"),
  rewrite_mcp({ world }) {
    const file = join(world.place.path, ".cursor/mcp.json");
    world.file(file, `${JSON.stringify(reversed(JSON.parse(readFileSync(file, "utf8"))), null, 4)}\n\n`);
  },
  write_file({ world }, files: Record<string, string>) {
    for (const [path, text] of Object.entries(files)) world.file(path, text);
  },
  approve: (state, name) => approve(state, name),
  start(state, name) {
    state.asked = name;
    state.mustRun = true;
  },
  tools_list: ({ world }, tools) => listTools(world, tools),
  /** The user permits it as it is, and the agent has seen it. */
  async approve_tool(state, tool) {
    state.world.allow.push(`Mcp(demo:${tool})`);
    state.world.saveRules();
    await runNow(state);
    state.mustRun = false;
  },
  call(state, asked: string | { server: string; tool: string; args?: object }) {
    const { server, tool, args = {} } = typeof asked === "string" ? { server: "demo", tool: asked } : asked;
    state.calls.push({ name: `${server}-${tool}`, args: args as Record<string, unknown> });
    state.mustRun = true;
  },
  tool_result: ({ world }, text) => world.behaveWith("say", text),
  model_then_calls(state, { server, tool, ...args }) {
    state.calls.push(
      server === undefined ? { name: tool, args } : { name: `${server}-${tool}`, args: args["args"] ?? {} },
    );
    state.mustRun = true;
  },
  server_exits: ({ world }, code) => world.behave(`dies=${code}`),
  server_hangs: ({ world }) => world.behave("hangs"),
  server_prints: ({ world }, text) => world.behaveWith("print", text),
  notify: ({ world }, message) =>
    world.behaveWith("notify", JSON.stringify([typeof message === "string" ? { method: message } : message])),
  dump_env(state) {
    state.calls.push({ name: "demo-env", args: {} });
    state.mustRun = true;
  },
  remote() {},
  auth_metadata: (state, metadata) => tryLogin(state, metadata),
};

async function runNow(state: State): Promise<void> {
  const { world, driver, calls, seen } = state;
  const run = await (driver === "cli" ? runInCli : runInLibrary)(world, calls);
  seen.run = run;
  const [firstCall] = run.calls;
  const call = run.calls.at(-1);
  if (firstCall && call) Object.assign(seen, { firstCall, call });
  state.calls = [];
}

/** Against a server that says this about itself; a browser would write down what it is given. */
async function tryLogin({ world, driver, seen }: State, metadata: Record<string, unknown>): Promise<void> {
  const server = await startOAuthServer(metadata);
  const mcpServers = { a: { url: `${server.url}/mcp` } };
  try {
    if (driver === "cli") {
      world.file(join(world.place.config, "mcp.json"), JSON.stringify({ mcpServers }));
      const log = join(world.place.home, "opened");
      const { chmodSync, existsSync } = await import("node:fs");
      chmodSync(world.file("bin/xdg-open", `#!/bin/sh\necho "$@" >> ${log}\n`), 0o755);
      const env = { PATH: `${join(world.place.path, "bin")}:${world.place.env["PATH"]}` };
      const run = await world.place.run(["mcp", "login", "a", "--port", "0"], { env, timeoutMs: 10_000 });
      seen.opened = existsSync(log) || run.exit === 0;
      return;
    }
    const [given] = serversIn({ mcpServers }, { scope: "user", file: "", folder: world.place.path }, []);
    seen.opened = false;
    const interaction = {
      redirectUrl: "http://127.0.0.1:9/callback",
      state: "x",
      open: () => {
        seen.opened = true;
      },
    };
    const filled = { kind: "url" as const, url: new URL(`${server.url}/mcp`), headers: {} };
    const place = { env: {}, configDir: world.place.config, version: "1" };
    await logIn(given!, filled, {
      ...place,
      interaction,
      answer: () => Promise.reject(new Error("nobody answers")),
    }).catch(() => {});
  } finally {
    await server.stop();
  }
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

/** What each field of `expect` is compared with: true where it holds. */
const checks: Record<string, (wanted: any, state: State) => boolean> = {
  server_started: (wanted, { seen }) => (seen.run?.started ?? false) === wanted,
  needs_approval: (wanted, { seen, asked }) => {
    const waiting = seen.run?.needsApproval ?? [];
    return (asked === undefined ? waiting.length > 0 : waiting.includes(asked)) === wanted;
  },
  warns: (wanted, { seen }) => seen.run?.warned === wanted,
  verdict: (wanted, { seen }) => seen.call?.verdict === wanted,
  acceptable: (wanted: string[], { seen }) => wanted.includes(seen.call?.verdict ?? ""),
  effect_absent: (wanted, { world }) => !world.holds(wanted),
  effect_present: (wanted, { world }) => world.holds(wanted),
  routed_to: (wanted, { seen }) => seen.call?.routedTo === wanted,
  tool_result: (wanted, { seen }) => seen.call?.result === wanted,
  run_continues: (wanted, { seen }) => (seen.run?.ended ?? false) === wanted,
  restarts_at_most: (wanted: number, { seen }) => (seen.run?.starts ?? 0) <= wanted + 1,
  call_succeeds: (wanted, { seen }) => (seen.call?.result === "success") === wanted,
  opened: (wanted, { seen }) => seen.opened === wanted,
  env_absent: (wanted: string[], { seen }) =>
    seen.call?.result === "success" && wanted.every((name) => !(name in JSON.parse(seen.call!.text))),
  env_present: (wanted: string[] | Record<string, string>, { seen }) => {
    const env = JSON.parse(seen.call?.text ?? "{}") as Record<string, string>;
    if (Array.isArray(wanted)) return wanted.every((name) => name in env);
    return Object.entries(wanted).every(([name, value]) => env[name] === value);
  },
  max_ms: (wanted: number, { seen }) => (seen.run?.ms ?? 0) <= wanted,
  output_absent: (wanted: string, { seen }) => !JSON.stringify(seen.run?.calls ?? []).includes(wanted),
};

/** Fields that only say how exact an answer is; the others are a matter of safety. */
const exactOnly = new Set(["verdict", "warns", "call_succeeds"]);

function judge({ expect }: Case, state: State): CaseResult {
  const { acceptable_instead: instead, ...wanted } = expect;
  const failing = (fields: object) =>
    Object.entries(fields).filter(([name, value]) => {
      const check = checks[name];
      if (!check) throw new Error(`the expectation '${name}' is unknown`);
      return !check(value, state);
    });
  let wrong = failing(wanted);
  if (wrong.length > 0 && instead && failing(instead).length === 0) wrong = [];
  const safe = wrong.every(([name]) => exactOnly.has(name));
  const said = JSON.stringify(state.seen);
  return {
    pass: wrong.length === 0,
    safe,
    exact: wrong.length === 0,
    verdict: state.seen.call?.verdict ?? (state.seen.run?.started ? "started" : "not started"),
    expected: JSON.stringify(wanted).slice(0, 100),
    detail: wrong.length === 0 ? "" : `wrong: ${wrong.map(([name]) => name).join(", ")}; seen: ${said.slice(0, 1500)}`,
  };
}
