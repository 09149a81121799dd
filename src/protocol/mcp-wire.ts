// Builds mcpToolCall as the stream spells it, for tools of MCP servers and for built-in tools that look like them.
import type { JsonObject } from "../json/object.ts";
import type { McpContent, McpToolCallArgs } from "./tool-shapes.ts";

export type McpCall = { server: string; tool: string; args: JsonObject; callId: string };

export function mcpWireArgs({ server, tool, args, callId }: McpCall): McpToolCallArgs {
  return { name: `${server}-${tool}`, args, toolCallId: callId, providerIdentifier: server, toolName: tool };
}

/** Returns the outcome of an MCP call. A failed tool is reported as a success with `isError` set. */
export function mcpOutcome(content: McpContent[], isError: boolean) {
  return { kind: "success", value: { content, isError } };
}
