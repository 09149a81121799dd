// `mcp add` and `mcp remove`: edit the servers in the user's own file or in the project's.
import { type UserError, usageError } from "../../../protocol/error-codes.ts";
import { quotedName } from "../../../run/mcp.ts";
import { approveServer } from "../../../store/mcp-approvals.ts";
import { addServer, removeServer } from "../../../store/mcp-edit.ts";
import { type McpFile, projectMcpFile, userMcpFile } from "../../../store/mcp-paths.ts";
import { type McpDefinition, serversIn } from "../../../store/mcp-servers.ts";
import { visible } from "../../../text/visible.ts";
import { flagList, flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { contextOf, type McpContext, serverNamed } from "./context.ts";

export async function add(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which servers they have");
  const [name, ...command] = words;
  const context = contextOf(invocation);
  const target = fileToEdit(invocation, context);
  const definition = definitionOf(invocation, command);
  const [server] = serversIn({ mcpServers: { [name!]: definition } }, target, []);
  if (server!.problem !== undefined) throw additionError(invocation, `'${name}' cannot be added: ${server!.problem}.`);
  if (!addServer(target, name!, definition)) {
    const remove = `${invocation.name} mcp remove ${quotedName(name!)}${target.scope === "project" ? " --project" : ""}`;
    throw usageError(`${target.file} already has a server '${name}'. Remove it first: ${remove}`);
  }
  // Approve the server: the user has just typed its command.
  if (target.scope === "project") approveServer(server!, context);
  if (wantsJson(invocation)) return answerJson({ name, added: true, source: target.file });
  return answer(visible(`✓ Added MCP server: ${name}  →  ${target.file}\n`));
}

export async function remove(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which servers they have");
  const context = contextOf(invocation);
  const target = fileToEdit(invocation, context);
  const name = words.join(" ");
  if (!removeServer(target, name)) {
    const { server } = serverNamed(context, words);
    const hint = server.scope === "project" && target.scope === "user" ? " Add --project." : "";
    throw usageError(`The MCP server '${name}' is in ${server.file}, not in ${target.file}.${hint}`);
  }
  if (wantsJson(invocation)) return answerJson({ name, removed: true, source: target.file });
  return answer(visible(`✓ Removed MCP server: ${name} (${target.file})\n`));
}

function fileToEdit(invocation: Invocation, { workspace, configDir }: McpContext): McpFile {
  const isProject = invocation.line.flags.has("project");
  const file = isProject ? projectMcpFile(workspace) : userMcpFile(configDir);
  return { scope: isProject ? "project" : "user", file, folder: workspace };
}

function definitionOf(invocation: Invocation, command: readonly string[]): McpDefinition {
  const { flags } = invocation.line;
  const url = flagText(flags, "url");
  const headers = namedValues(invocation, "header", /^([^:\s]+):\s*(.*)$/s, "'Name: Value'");
  const env = namedValues(invocation, "env", /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s, "NAME=VALUE");
  if (url !== undefined && command.length > 0) throw additionError(invocation, "give a command or a --url, not both.");
  if (url === undefined && command.length === 0)
    throw additionError(invocation, "give a command after --, or a --url.");
  if (url === undefined)
    return {
      command: command[0]!,
      ...(command.length > 1 && { args: command.slice(1) }),
      ...(env && { env }),
    };
  const type = flagText(flags, "transport");
  return { ...(type !== undefined && { type }), url, ...(headers && { headers }) };
}

function namedValues(
  invocation: Invocation,
  flag: string,
  form: RegExp,
  shown: string,
): Record<string, string> | undefined {
  const flagValues = flagList(invocation.line.flags, flag);
  if (flagValues.length === 0) return undefined;
  return Object.fromEntries(
    flagValues.map((text) => {
      const [, name, value] = form.exec(text) ?? [];
      // Do not print the value in the error, since it may be a secret.
      if (name === undefined) throw additionError(invocation, `--${flag} must be ${shown}.`);
      return [name, value!];
    }),
  );
}

function additionError({ name }: Invocation, why: string): UserError {
  const example = why.includes('"url"') ? "--url https://example.com/mcp" : "-- npx -y docs-server";
  return usageError(`mcp add: ${why} Example: ${name} mcp add docs ${example}`);
}
