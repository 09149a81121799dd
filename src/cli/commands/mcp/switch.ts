// `mcp enable` and `mcp disable`: choose which servers a workspace starts.
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import { shownStart } from "../../../run/mcp.ts";
import { approveServer, disableServer, enableServer } from "../../../store/mcp-approvals.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { contextOf, serverNamed } from "./context.ts";

export async function enable(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which servers they have");
  const context = contextOf(invocation);
  const { server } = waitingOrNamed(context, words);
  const { name, file, scope, definition, problem } = server;
  if (problem !== undefined)
    throw new UserError(
      "CONFIG_INVALID",
      `${file}: the MCP server ${name} cannot be started: ${problem}. Fix it first.`,
    );
  if (definition.disabled === true) throw usageError(`${name} is disabled in ${file}. Remove "disabled" there.`);
  if (scope === "project") approveServer(server, context);
  else enableServer(server, context);
  if (wantsJson(invocation)) return answerJson({ name, enabled: true, approved: true, source: file });
  return answer(visible(`✓ Enabled and approved MCP server: ${name}\n  It will ${shownStart(server)}\n`));
}

export async function disable(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which servers they have");
  const context = contextOf(invocation);
  const { server } = serverNamed(context, words);
  disableServer(server, context);
  if (wantsJson(invocation)) return answerJson({ name: server.name, enabled: false, source: server.file });
  return answer(visible(`✓ Disabled MCP server: ${server.name} (in ${context.workspace})\n`));
}

/** Prefers a server that waits for approval to one of the same name that needs none. */
function waitingOrNamed(context: ReturnType<typeof contextOf>, words: readonly string[]) {
  const waiting = context.plan.servers.find(
    ({ server, standing }) => standing === "needs-approval" && server.name === words.join(" "),
  );
  return waiting ?? serverNamed(context, words);
}
