// `mcp list`: prints the servers configured here and the status of each.
import type { Connection } from "../../../agent/mcp/connection.ts";
import { quotedName } from "../../../run/mcp.ts";
import type { PlannedServer } from "../../../run/mcp-plan.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { contextOf, type McpContext, withServers } from "./context.ts";

export type ListedServer = {
  name: string;
  status: "ready" | "needs-login" | "failed" | "needs-approval" | "disabled";
  source: string;
  scope: string;
  transport: string;
  tools?: number;
  error?: string;
};

export async function listServers(invocation: Invocation): Promise<number> {
  const listed = await tryServers(contextOf(invocation));
  if (wantsJson(invocation)) return answerJson(listed);
  if (listed.length === 0)
    return answer(`No MCP servers are configured. Add one: ${invocation.name} mcp add <name> -- <command>\n`);
  return answer(listed.map((server) => `${visible(serverLine(server, invocation.name))}\n`).join(""));
}

/** Starts the servers that may be started, to learn their status, and stops them again. */
export async function tryServers(context: McpContext): Promise<ListedServer[]> {
  const planned = context.plan.servers.filter(({ standing }) => standing !== "shadowed");
  const toStart = planned.filter(({ standing }) => standing === "pending").map(({ server }) => server);
  return withServers(context, toStart, ({ connections }) =>
    planned.map((each) =>
      listedServer(each, each.standing === "pending" ? connections[toStart.indexOf(each.server)] : undefined),
    ),
  );
}

function listedServer({ server, standing }: PlannedServer, connection: Connection | undefined): ListedServer {
  const { name, file, scope, transport, problem } = server;
  const base = { name, source: file, scope, transport: transport === "auto" ? "http" : transport };
  if (!connection) {
    const status = standing === "pending" || standing === "shadowed" ? "failed" : standing;
    return { ...base, status, ...(problem !== undefined && { error: problem }) };
  }
  if (connection.status === "connected") return { ...base, status: "ready", tools: connection.tools.length };
  const status = connection.status === "needs-login" ? "needs-login" : "failed";
  return { ...base, status, error: connection.problem ?? "it did not answer" };
}

function serverLine({ name, status, tools, transport, source, error }: ListedServer, program: string): string {
  const word = quotedName(name);
  const states: Record<ListedServer["status"], string> = {
    ready: readyWords(tools),
    "needs-approval": "not loaded (needs approval)",
    disabled: "disabled",
    "needs-login": `needs login: ${program} mcp login ${word}`,
    failed: `failed: ${error}`,
  };
  return `${name}: ${states[status]}  ·  ${transport}, ${source}`;
}

export function readyWords(tools = 0): string {
  return `ready (${tools} ${tools === 1 ? "tool" : "tools"})`;
}
