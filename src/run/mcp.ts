// The MCP servers of a run, started: loaded only where there are any.
import type { ExpandedPrompt } from "../agent/instructions/index.ts";
import { ServerProblem } from "../agent/mcp/connection.ts";
import { elicitFrom } from "../agent/mcp/elicit.ts";
import { serverPrompts } from "../agent/mcp/prompts.ts";
import type { ServerRequests } from "../agent/mcp/requests.ts";
import { sampleWith } from "../agent/mcp/sampling.ts";
import { type ServerStatus, startServers } from "../agent/mcp/servers.ts";
import type { Person } from "../agent/person.ts";
import type { ProcessRunner } from "../agent/process.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent, MissingServer } from "../protocol/event.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import type { CallableName } from "../protocol/run.ts";
import { redact } from "../redact/redact.ts";
import { isSecretName } from "../redact/secret-names.ts";
import { redactedStart } from "../redact/shorten.ts";
import { approveServer } from "../store/mcp-approvals.ts";
import type { McpServer } from "../store/mcp-servers.ts";
import { chooseServerTools } from "./choose-tools.ts";
import { keepConsent } from "./human.ts";
import { type McpPlan, rulesOf } from "./mcp-plan.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";

export type McpParts = {
  /** Of the run, once its model is there. */
  state: Promise<RunState>;
  mode(): RunState["mode"];
  processes: ProcessRunner;
  /** Answers what servers ask; absent where nobody can, and then the answer is no. */
  person?: Person;
  warn(message: string): void;
};

/** What a run does with its servers. */
export interface RunServers {
  readonly tools: readonly Tool[];
  readonly rules: readonly Rule[];
  /** Waits for them, up to their limit; then, once, what is to be known of those that are missing. */
  ready(signal: AbortSignal): Promise<AgentEvent[]>;
  /** Those that are there. */
  names(): string[];
  /** Those that are configured, and not there. */
  missing(): MissingServer[];
  /** What a `/server:prompt` stands for; undefined where the text names none. */
  expand(text: string, signal: AbortSignal): Promise<ExpandedPrompt | undefined>;
  /** Of the servers that are connected by now. */
  prompts(): CallableName[];
  end(): Promise<void>;
}

/** Starts what may be started, and names what may not. */
export async function openMcp(setup: Setup, plan: McpPlan, parts: McpParts): Promise<RunServers> {
  const { mode, processes, warn } = parts;
  const { request, host } = setup;
  const { mcpStartMs: startMs, mcpCallMs: callMs } = setup.settings.courser;
  for (const warning of plan.warnings) warn(warning);
  const servers: McpServer[] = [];
  for (const { server, standing } of plan.servers) {
    if (standing === "failed")
      warn(`The MCP server ${server.name} (${server.file}) was not started: ${sentence(server.problem ?? "")}`);
    if (standing === "pending" || (standing === "needs-approval" && (await isApprovedNow(server, setup, warn))))
      servers.push(server);
  }
  const started = startServers(servers, {
    ...approvalContext(setup),
    version: host.version,
    processes,
    requests: requestsOf(setup, parts),
    consents: ({ name }) => isConsented(name, setup),
    warn,
    limits: { ...(startMs !== undefined && { startMs }), ...(callMs !== undefined && { callMs }) },
  });
  const told = new Set<string>();
  return {
    get tools() {
      return chooseServerTools(started.tools, request, mode());
    },
    rules: rulesOf(plan),
    async ready(signal) {
      await started.ready(signal);
      const missing = started.status().filter(({ name, status }) => status !== "connected" && !told.has(name));
      for (const { name } of missing) told.add(name);
      return missing.map((server) => missingNotice(server, host.program));
    },
    names: () => connected(started.status()).map(({ name }) => name),
    missing: () => missingServers(plan, started.status()),
    async expand(text, signal) {
      const parts = await started.prompt(text, signal).catch((error: unknown) => {
        if (!(error instanceof ServerProblem)) throw error;
        throw new UserError("USAGE", `${error.message} It was asked for by: ${redactedStart(text, 80)}`);
      });
      return parts && { parts, warnings: [], attachments: [] };
    },
    prompts: () => serverPrompts(started.connections).map((each) => ({ ...each, kind: "prompt" as const })),
    end: () => started.end(),
  };
}

function connected(servers: readonly ServerStatus[]): ServerStatus[] {
  return servers.filter(({ status }) => status === "connected");
}

/** Not started, or started and gone. Those that the user has switched off are not missed. */
function missingServers({ servers }: McpPlan, started: readonly ServerStatus[]): MissingServer[] {
  return servers.flatMap(({ server: { name, problem }, standing }): MissingServer[] => {
    if (standing === "shadowed" || standing === "disabled") return [];
    const now = started.find((each) => each.name === name);
    if (now?.status === "connected") return [];
    const why = now?.problem ?? problem;
    return [{ name, status: now?.status ?? standing, ...(why !== undefined && { problem: redact(why) }) }];
  });
}

function requestsOf({ workspace, roots }: Setup, { person, state, warn }: McpParts): ServerRequests {
  const base = { roots: [workspace, ...roots], refused: warn };
  if (!person) return base;
  return { ...base, elicit: elicitFrom(person), sample: sampleWith({ person, model: state }) };
}

/** Whoever approves servers where nobody can be asked wants their tools called: else the approval would be for nothing. */
function isConsented(server: string, { trusted, request, host }: Setup): boolean {
  const { approvedServers = [], approvedServerCalls = host.attended?.() ? "ask" : "allow" } = request;
  if (!trusted || approvedServerCalls !== "allow") return false;
  return approvedServers === "all" || approvedServers.includes(server);
}

function approvalContext({ configDir, workspace, home, host }: Setup) {
  return { configDir, workspace, home, env: host.env };
}

function missingNotice({ name, status, problem }: ServerStatus, program: string): AgentEvent {
  const login = status === "needs-login" ? ` Log in with: ${program} mcp login ${quotedName(name)}` : "";
  const message = `The MCP server ${name} is missing: ${sentence(problem ?? "it is not there yet")}${login}`;
  return { type: "notice", kind: "mcp_server", message, fields: { name, status }, at: Date.now() };
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

async function isApprovedNow(server: McpServer, setup: Setup, warn: McpParts["warn"]): Promise<boolean> {
  const { name, file } = server;
  const answer = await setup.asking.ask({ type: "server", name, file, start: shownStart(server) });
  if (answer?.type !== "yes") {
    const { program } = setup.host;
    warn(
      `The MCP server ${name} (${file}) is not approved, and was not started. It would ${shownStart(server)} Approve it: ${program} mcp enable ${quotedName(name)}; for one run: --approve-mcp ${quotedName(name)}`,
    );
    return false;
  }
  if (answer.grant !== "run")
    keepConsent(() => approveServer(server, approvalContext(setup)), `The MCP server ${name} is approved`, warn);
  return true;
}

/** What a person decides on. Values of variables and headers may be secrets, and are not shown. */
export function shownStart({ definition }: McpServer): string {
  const { command, args = [], url, env = {}, headers = {}, envFile, cwd } = definition;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${isSecretName(name) ? "…" : redact(value)}`);
  const extras = [
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(variables.length > 0 ? [`with ${variables.join(" ")}`] : []),
    ...(envFile === undefined ? [] : [`with the variables of ${envFile}`]),
    ...(Object.keys(headers).length > 0 ? [`with the headers ${Object.keys(headers).join(", ")}`] : []),
  ];
  const what = url === undefined ? `run: ${redact([command, ...args].join(" "))}` : `connect to ${redact(url)}`;
  // In one line: a line of its own could pass for one of ours.
  return `${[what, ...extras].join(", ").replace(/\r?\n|\r/g, "⏎")}.`;
}

export function quotedName(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
}
