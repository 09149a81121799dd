// `mcp list-tools`: prints a server's tools and their parameters.
import type { Connection } from "../../../agent/mcp/connection.ts";
import { typedName } from "../../../agent/mcp/prompts.ts";
import { approvedParts } from "../../../agent/mcp/server-tool.ts";
import { isObject } from "../../../json/object.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import { asSentence, quotedName } from "../../../run/mcp.ts";
import { ToolPins } from "../../../store/mcp-approvals.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { contextOf, requireApproval, serverNamed, withServers } from "./context.ts";

export async function listTools(invocation: Invocation, words: readonly string[]): Promise<number> {
  const context = contextOf(invocation);
  const named = serverNamed(context, words);
  requireApproval(named, invocation.name);
  const { server, standing } = named;
  const word = quotedName(server.name);
  if (standing === "disabled")
    throw usageError(`The MCP server ${server.name} is disabled. Type: ${invocation.name} mcp enable ${word}`);
  // Read the pins before the server starts, since tools that are seen for the first time become pinned.
  const pins = new ToolPins(server, context);
  return withServers(context, [server], async ({ connections: [connection] }) => {
    const { status, problem, tools, prompts } = connection!;
    if (status === "needs-login")
      throw new UserError(
        "NOT_AUTHENTICATED",
        `${server.name} requires a login. Type: ${invocation.name} mcp login ${word}`,
      );
    if (status !== "connected")
      throw new UserError(
        "MCP_UNREACHABLE",
        `The MCP server ${server.name} cannot be asked: ${asSentence(problem ?? "it is not there")}`,
      );
    const listed = tools.map((tool) => ({
      name: tool.name,
      ...(tool.description !== undefined && { description: tool.description }),
      parameters: tool.inputSchema,
      ...(pins.status(approvedParts(tool)) === "changed" && { changed: true }),
    }));
    if (wantsJson(invocation)) return answerJson({ server: server.name, tools: listed, prompts });
    return answer(`${[...listed.flatMap(toolLines), ...promptLines(server.name, prompts)].map(visible).join("\n")}\n`);
  });
}

function toolLines(tool: { name: string; description?: string; parameters: unknown; changed?: boolean }): string[] {
  const note = tool.changed ? "  (changed since it was approved)" : "";
  const about = (tool.description ?? "")
    .trim()
    .split("\n")
    .map((line) => `    ${line}`);
  return [`${tool.name} (${parameterNames(tool.parameters)})${note}`, ...(tool.description ? about : [])];
}

function parameterNames(schema: unknown): string {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed = Array.isArray(required) ? required : [];
  const names = isObject(properties) ? Object.keys(properties) : [];
  return names.map((name) => (needed.includes(name) ? name : `${name}?`)).join(", ");
}

function promptLines(server: string, prompts: Connection["prompts"]): string[] {
  return prompts.map(({ name, arguments: args = [] }) => {
    const words = args.map((arg) => (arg.required ? `<${arg.name}>` : `[${arg.name}]`)).join(" ");
    return `/${typedName(server)}:${typedName(name)} ${words}`.trimEnd();
  });
}
