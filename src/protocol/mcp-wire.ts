// mcpToolCall as the stream spells it: for tools of servers, and for our own that look like them.
import type { JsonObject } from "../json/object.ts";
import type { McpContent, McpToolCallArgs } from "./tool-shapes.ts";

export type McpCall = { server: string; tool: string; args: JsonObject; callId: string };

export function mcpWireArgs({ server, tool, args, callId }: McpCall): McpToolCallArgs {
  return { name: `${server}-${tool}`, args, toolCallId: callId, providerIdentifier: server, toolName: tool };
}

/** A tool that failed is a success that says so. */
export function mcpOutcome(content: McpContent[], isError: boolean) {
  return { kind: "success", value: { content, isError } };
}
