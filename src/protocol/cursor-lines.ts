// Types of the stream-json lines, one for each kind, and of the tool calls in them. A stream may also contain other lines.
import type { ToolShapes } from "./tool-shapes.ts";

export interface CursorSystemEvent {
  type: "system";
  subtype: "init";
  /** Where the key comes from: login, env, flag or none. */
  apiKeySource: string;
  cwd: string;
  session_id: string;
  /** The model's name for display, such as "Claude 4.5 Sonnet". */
  model: string;
  permissionMode: string;
  tools?: string[];
  mcp_servers?: { name: string; status: string }[];
}

export interface CursorTextBlock {
  type: "text";
  text: string;
}

export interface CursorUserEvent {
  type: "user";
  message: { role: "user"; content: CursorTextBlock[] };
  session_id: string;
}

export interface CursorAssistantEvent {
  type: "assistant";
  message: { role: "assistant"; content: CursorTextBlock[] };
  session_id: string;
  /** A time. A line that has it and no `model_call_id` is a delta. */
  timestamp_ms?: number;
  /** Marks a line that has the complete text before a tool call. */
  model_call_id?: string;
}

export interface CursorThinkingEvent {
  type: "thinking";
  subtype: "delta" | "completed";
  /** The text; only in lines that are deltas. */
  text?: string;
  session_id: string;
  timestamp_ms?: number;
}

export interface CursorToolCallEvent {
  type: "tool_call";
  subtype: "started" | "completed";
  /** The id of the tool call. In streams of the original it may contain a line break. */
  call_id: string;
  tool_call: CursorToolCall;
  model_call_id?: string;
  session_id: string;
  timestamp_ms?: number;
}

/** A tool call: one key names the tool, the others are next to it. Tools without a type here also have a key that ends in `ToolCall`. */
export type CursorToolCall = Partial<ToolShapes> & {
  toolCallId?: string;
  /** Milliseconds since 1970, as a string because it is a 64-bit number. */
  startedAtMs?: string;
  completedAtMs?: string;
  hookAdditionalContexts?: unknown[];
};

export interface CursorResultEvent {
  type: "result";
  subtype: "success" | "error";
  duration_ms: number;
  duration_api_ms: number;
  is_error: boolean;
  /** The complete answer, or the error message. */
  result: string;
  session_id: string;
  request_id?: string;
  usage?: {
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    totalCost?: number | null;
  };
  error_code?: string;
  permission_denials?: { tool: string; call_id: string; reason: string; rule?: string; file?: string }[];
  background?: { id: string; command: string; status: string; exit_code?: number }[];
  missing_mcp_servers?: { name: string; status: string; problem?: string }[];
  /** The answer as parsed by the schema of `--json-schema`. */
  structured_output?: unknown;
}

export type CursorEvent =
  | CursorSystemEvent
  | CursorUserEvent
  | CursorAssistantEvent
  | CursorThinkingEvent
  | CursorToolCallEvent
  | CursorResultEvent;

export type ReadToolCall = ToolShapes["readToolCall"];
export type EditToolCall = ToolShapes["editToolCall"];
export type WriteToolCall = ToolShapes["writeToolCall"];
export type ShellToolCall = ToolShapes["shellToolCall"];
export type LsToolCall = ToolShapes["lsToolCall"];
export type GrepToolCall = ToolShapes["grepToolCall"];
export type GlobToolCall = ToolShapes["globToolCall"];
export type DeleteToolCall = ToolShapes["deleteToolCall"];
export type UpdateTodosToolCall = ToolShapes["updateTodosToolCall"];
export type SemSearchToolCall = ToolShapes["semSearchToolCall"];
export type WebFetchToolCall = ToolShapes["webFetchToolCall"];
export type WebSearchToolCall = ToolShapes["webSearchToolCall"];
export type McpToolCall = ToolShapes["mcpToolCall"];
export type ListMcpResourcesToolCall = ToolShapes["listMcpResourcesToolCall"];
export type TaskToolCall = ToolShapes["taskToolCall"];
