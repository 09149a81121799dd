// Args and results of the tools of MCP servers, as the wire spells them.
import type { ErrorText, Rejected } from "./tool-shapes.ts";

export interface ListMcpResourcesToolCallArgs {
  server?: string;
}
export interface ListMcpResourcesToolCallResult {
  success?: { resources: McpResource[] };
  error?: ErrorText;
}
export interface McpResource {
  uri: string;
  name: string;
  description?: string;
  mimeType?: string;
}

export interface ReadMcpResourceToolCallArgs {
  server: string;
  uri: string;
}
export interface ReadMcpResourceToolCallResult {
  success?: { uri: string; content: McpContent[] };
  error?: ErrorText & { uri?: string };
  rejected?: Rejected;
}

export interface McpToolCallArgs {
  /** `<server>-<tool>`. */
  name: string;
  args: Record<string, unknown>;
  toolCallId: string;
  providerIdentifier: string;
  toolName: string;
  serverIdentifier?: string;
  skipApproval?: boolean;
  smartModeApprovalOnly?: boolean;
}
export interface McpToolCallResult {
  /** A tool that failed is a success with `isError`. */
  success?: { content: McpContent[]; isError: boolean };
  error?: ErrorText;
  rejected?: Rejected;
}
export interface McpContent {
  text?: { text: string };
  image?: { data: string; mimeType: string };
  resource?: { uri: string; text?: string };
}
