// Runs the MCP servers of a run: starts them in parallel, waits up to a limit, and ends them with the run.
import { orAborted } from "../../net/or-aborted.ts";
import type { Part } from "../../protocol/message.ts";
import { ToolPins } from "../../store/mcp-approvals.ts";
import type { McpServer } from "../../store/mcp-servers.ts";
import { resolveServer, type VariableContext, VariableProblem } from "../../store/mcp-variables.ts";
import type { ProcessRunner } from "../process.ts";
import type { Tool } from "../tools/tool.ts";
import { ChildTransport } from "./child-transport.ts";
import { Connection, type ConnectionLimits, type ConnectionStatus, type ServerTransport } from "./connection.ts";
import { expandServerPrompt } from "./prompts.ts";
import type { ServerRequests } from "./requests.ts";
import { resourceTools } from "./resources.ts";
import { approvedParts, callableName, serverTool } from "./server-tool.ts";

export type McpOptions = VariableContext & {
  configDir: string;
  version: string;
  processes: ProcessRunner;
  requests: ServerRequests;
  limits?: Partial<ConnectionLimits>;
  /** Returns whether permitting this server also permits its tools. */
  consents?(server: McpServer): boolean;
  warn(message: string): void;
};

export type ServerStatus = { name: string; status: ConnectionStatus; problem?: string };

export interface McpServers {
  /** Resolves when each server has connected, failed or timed out, or the run is aborted. */
  ready(signal?: AbortSignal): Promise<void>;
  /** The tools that the servers offer now. Servers may change them during the run. */
  readonly tools: readonly Tool[];
  readonly connections: readonly Connection[];
  status(): ServerStatus[];
  /** Expands `/server:prompt`; resolves to undefined when the text names none. */
  prompt(text: string, signal: AbortSignal): Promise<Part[] | undefined>;
  end(): Promise<void>;
}

const usualLimits: ConnectionLimits = { startMs: 30_000, callMs: 120_000, longestCallMs: 60 * 60_000 };

/** Starts `servers` at once; the caller passes only those that may be started. */
export function startServers(servers: readonly McpServer[], options: McpOptions): McpServers {
  const limits = { ...usualLimits, ...options.limits };
  const running = servers.map((server) => startServer(server, limits, options));
  const connections = running.map(({ connection }) => connection);
  const withResources = () => connections.filter((each) => each.hasResources);
  const consents = options.consents ?? (() => false);
  const consented = new Set(servers.filter((server) => consents(server)).map(({ name }) => name));
  const resources = resourceTools(withResources, (server) => consented.has(server));
  let cached: { lists: readonly unknown[]; tools: readonly Tool[] } = { lists: [], tools: [] };
  return {
    async ready(signal) {
      const all = Promise.all(running.map((each) => each.connected));
      await (signal ? orAborted(all, signal).catch(() => {}) : all);
    },
    get tools() {
      const lists = connections.map(({ tools }) => tools);
      // Return the same objects until a server's tools change, so that callers can compare them.
      if (lists.every((list, index) => list === cached.lists[index])) return cached.tools;
      const taken = new Set<string>();
      // Keep the tools of a server that has died: a call restarts it or reports why it cannot be started.
      const serverTools = running.flatMap((each) => each.tools(taken));
      cached = { lists, tools: withResources().length > 0 ? [...serverTools, ...resources] : serverTools };
      return cached.tools;
    },
    connections,
    status: () =>
      running.map(({ connection: { name, status, problem } }) => ({
        name,
        status,
        ...(problem !== undefined && { problem }),
      })),
    prompt: (text, signal) => expandServerPrompt(text, connections, { signal }),
    async end() {
      await Promise.all(running.map(({ connection }) => connection.end()));
    },
  };
}

type RunningServer = { connection: Connection; connected: Promise<void>; tools(taken: Set<string>): Tool[] };

function startServer(server: McpServer, limits: ConnectionLimits, options: McpOptions): RunningServer {
  // The tool descriptions of servers passed on the command line are not pinned.
  const pins = server.scope === "flag" ? undefined : new ToolPins(server, options);
  const connection = new Connection({
    name: server.name,
    version: options.version,
    limits,
    requests: options.requests,
    open: () => openTransport(server, options),
    onTools(tools) {
      try {
        pins?.remember(tools.map(approvedParts));
      } catch (error) {
        options.warn(`The tools of ${server.name} could not be saved: ${(error as Error).message}`);
      }
    },
  });
  const { command, args = [], url } = server.definition;
  const reached = url !== undefined ? { url } : { command: [command, ...args].join(" ") };
  const consented = options.consents?.(server) === true;
  const context = { connection, server: server.name, reached, ...(pins && { pins }), consented };
  return {
    connection,
    connected: connection.connect(),
    tools: (taken) =>
      connection.tools.map((tool) => serverTool(tool, callableName(server.name, tool.name, taken), context)),
  };
}

async function openTransport(server: McpServer, options: McpOptions): Promise<ServerTransport> {
  if (server.problem !== undefined) throw new VariableProblem(server.problem);
  const filled = resolveServer(server, options);
  if (filled.kind === "command") return new ChildTransport(filled, { processes: options.processes });
  const { openRemote } = await import("./remote.ts");
  return openRemote(server, filled, options);
}
