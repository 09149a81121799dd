// Runs the MCP servers of a run. Loaded only if there are any.
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
import { usageError } from "../protocol/error-codes.ts";
import type { AgentEvent, MissingServer } from "../protocol/event.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import type { CallableName } from "../protocol/run.ts";
import { redact } from "../redact/redact.ts";
import { isSecretName } from "../redact/secret-names.ts";
import { serverSecrets } from "../redact/server-secrets.ts";
import { redactedStart } from "../redact/shorten.ts";
import { approveServer } from "../store/mcp-approvals.ts";
import type { McpServer } from "../store/mcp-servers.ts";
import { resolveServer } from "../store/mcp-variables.ts";
import { chooseServerTools } from "./choose-tools.ts";
import { keepConsent } from "./human.ts";
import { type McpPlan, rulesOf } from "./mcp-plan.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";

export type McpParts = {
  /** The state of the run, available once its model is open. */
  state: Promise<RunState>;
  mode(): RunState["mode"];
  processes: ProcessRunner;
  /** Answers the servers' questions; when absent, they are declined. */
  person?: Person;
  warn(message: string): void;
};

/** The MCP servers of a run. */
export interface RunServers {
  readonly tools: readonly Tool[];
  readonly rules: readonly Rule[];
  /** Waits for the servers, up to their limit, and returns notices about missing ones, each once. */
  ready(signal: AbortSignal): Promise<AgentEvent[]>;
  /** Returns the names of the servers that are connected. */
  names(): string[];
  /** Returns the configured servers that are not connected. */
  missing(): MissingServer[];
  /** Expands `/server:prompt`; resolves to undefined when the text names none. */
  expand(text: string, signal: AbortSignal): Promise<ExpandedPrompt | undefined>;
  /** Returns the prompts of the servers that are connected so far. */
  prompts(): CallableName[];
  end(): Promise<void>;
}

/** Returns the secrets of the servers, to hide them from commands, hooks and everything that is written. */
export function serverKeys(setup: Setup, { servers }: McpPlan): string[] {
  return servers.flatMap(({ server }) => {
    try {
      const found = resolveServer(server, approvalContext(setup));
      return serverSecrets(found.kind === "url" ? found : { ...found, args: found.command.slice(1) });
    } catch {
      return []; // a server whose definition cannot be resolved is not started
    }
  });
}

/** Starts the servers that may be started, and warns about the others. */
export async function openMcp(setup: Setup, plan: McpPlan, parts: McpParts): Promise<RunServers> {
  const { mode, processes, warn } = parts;
  const { request, host } = setup;
  const { mcpStartMs: startMs, mcpCallMs: callMs } = setup.settings.courser;
  for (const warning of plan.warnings) warn(warning);
  const servers: McpServer[] = [];
  for (const { server, standing } of plan.servers) {
    if (standing === "failed")
      warn(`The MCP server ${server.name} (${server.file}) was not started: ${asSentence(server.problem ?? "")}`);
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
  const warned = new Set<string>();
  const hide = host.redact ?? redact;
  return {
    get tools() {
      return chooseServerTools(started.tools, request, mode());
    },
    rules: rulesOf(plan),
    async ready(signal) {
      await started.ready(signal);
      const missing = started.status().filter(({ name, status }) => status !== "connected" && !warned.has(name));
      for (const { name } of missing) warned.add(name);
      return missing.map((server) => missingNotice(server, host.program, hide));
    },
    names: () => started.status().flatMap(({ name, status }) => (status === "connected" ? name : [])),
    missing: () => missingServers(plan, started.status(), hide),
    async expand(text, signal) {
      const parts = await started.prompt(text, signal).catch((error: unknown) => {
        if (!(error instanceof ServerProblem)) throw error;
        throw usageError(`${error.message} It was asked for by: ${redactedStart(text, 80)}`);
      });
      return parts && { parts, warnings: [], attachments: [] };
    },
    prompts: () => serverPrompts(started.connections).map((each) => ({ ...each, kind: "prompt" as const })),
    end: () => started.end(),
  };
}

/** Returns servers that were not started or have died. Those that the user disabled are not missing. */
function missingServers({ servers }: McpPlan, started: readonly ServerStatus[], hide: typeof redact): MissingServer[] {
  return servers.flatMap(({ server: { name, problem }, standing }): MissingServer[] => {
    if (standing === "shadowed" || standing === "disabled") return [];
    const now = started.find((each) => each.name === name);
    if (now?.status === "connected") return [];
    const why = now?.problem ?? problem;
    return [{ name, status: now?.status ?? standing, ...(why !== undefined && { problem: hide(why) }) }];
  });
}

function requestsOf({ workspace, roots }: Setup, { person, state, warn }: McpParts): ServerRequests {
  const base = { roots: [workspace, ...roots], refused: warn };
  if (!person) return base;
  return { ...base, elicit: elicitFrom(person), sample: sampleWith({ person, model: state }) };
}

/** Approving servers where no user can be asked also allows their tools: otherwise the approval would have no effect. */
function isConsented(server: string, { trusted, request, host }: Setup): boolean {
  const { approvedServers = [], approvedServerCalls = host.attended?.() ? "ask" : "allow" } = request;
  if (!trusted || approvedServerCalls !== "allow") return false;
  return approvedServers === "all" || approvedServers.includes(server);
}

function approvalContext({ configDir, workspace, home, host }: Setup) {
  return { configDir, workspace, home, env: host.env };
}

function missingNotice({ name, status, problem }: ServerStatus, program: string, hide: typeof redact): AgentEvent {
  const login = status === "needs-login" ? ` Log in with: ${program} mcp login ${quotedName(name)}` : "";
  const message = `The MCP server ${name} is missing: ${asSentence(hide(problem ?? "it is not there yet"))}${login}`;
  return { type: "notice", kind: "mcp_server", message, fields: { name, status }, at: Date.now() };
}

export function asSentence(text: string): string {
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

/** Describes what starting a server does, for the user's decision. Values of variables and headers may be secrets and are not shown. */
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
  // Keep the message on one line: a second line could be mistaken for one of ours.
  return `${[what, ...extras].join(", ").replace(/\r?\n|\r/g, "⏎")}.`;
}

export function quotedName(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
}
