// Calls that a hook of Codex's own settings denied: its stream leaves them out, but its model is told.
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import type { RunDenial } from "../../sdk/outcome.ts";
import { ownCallOf, unifiedToolName } from "../../sdk/tool-names.ts";
import type { RecordedRequest } from "./model-server.ts";
import type { ToolUse } from "./run-cli.ts";

const told = /^(?:Command|Tool call) blocked by PreToolUse hook: (.*?)(?:\. (?:Command|Tool): .*)?$/s;

/** Returns both lists with what is missing in them. `requests` are those of one run. */
export function withCodexDenials(
  requests: readonly RecordedRequest[],
  toolCalls: readonly ToolUse[],
  denials: readonly RunDenial[],
): { toolCalls: readonly ToolUse[]; denials: readonly RunDenial[] } {
  const inputItems = (request: RecordedRequest | undefined): JsonObject[] =>
    Array.isArray(request?.json?.input) ? request.json.input.filter(isObject) : [];
  const earlier = inputItems(requests[0]).length;
  const items = inputItems(requests.at(-1)).slice(earlier);
  const all = [...toolCalls];
  const more = [...denials];
  const calls = items.filter(({ type }) => type === "function_call" || type === "custom_tool_call");
  for (const [index, item] of calls.entries()) {
    const { callId, name, text } = parseCall(item);
    const { output } = items.find(({ call_id, output }) => call_id === callId && output !== undefined) ?? {};
    const reason = typeof output === "string" ? told.exec(output)?.[1] : undefined;
    if (reason === undefined || all.some((call) => call.callId === callId)) continue;
    const unified = unifiedToolName("codex", name);
    const block = { type: "tool_use", id: callId, name: unified, input: tryParse(text) } as const;
    const { args } = ownCallOf(block, "codex");
    all.splice(index, 0, { name: unified, cliName: name, args, callId, outcome: "rejected", value: { reason } });
    more.push({ name: unified, tool: name, callId, reason });
  }
  return { toolCalls: all, denials: more };
}

function parseCall({ call_id, name, arguments: text, input }: JsonObject): {
  callId: string;
  name: string;
  text: string;
} {
  return { callId: String(call_id), name: String(name), text: String(text ?? input) };
}
