// The unified event: what a handler is told, the same on every host.
import type { JsonObject } from "../json/object.ts";

export const hostNames = ["cursor", "claude", "codex"] as const;
export type HostName = (typeof hostNames)[number];

/** On every host. */
export const commonHookNames = ["SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] as const;

/** Where a host has them; on `cursor` only when asked for with `events: "all"`. */
export const furtherHookNames = [
  "SessionEnd",
  "PreCompact",
  "SubagentStart",
  "SubagentStop",
  "PostToolUseFailure",
  "PermissionRequest",
] as const;

export const hookNames = [...commonHookNames, ...furtherHookNames] as const;
export type HookName = (typeof hookNames)[number];

/** Codex is not told of calls that fail. */
export const codexHookNames = hookNames.filter((name) => name !== "PostToolUseFailure");

/** What every event says. */
type Base<Name extends HookName> = {
  event: Name;
  host: HostName;
  /** What the host calls this event: `beforeShellExecution`. */
  nativeEvent: string;
  cwd?: string;
  sessionId?: string;
  transcriptPath?: string | null;
  model?: string;
  /** The payload, whole and untouched. */
  _native: JsonObject;
};

/**
 * Arguments of known tools. Hosts send more fields than these; only `Bash.command` is there on all of them. Which files
 * a call is about is in `paths`, whatever a host calls its arguments.
 */
export type ToolInputs = {
  Bash: { command: string; description?: string; timeout?: number; working_directory?: string; [key: string]: unknown };
  Read: { file_path?: string; content?: string; offset?: number; limit?: number; [key: string]: unknown };
  Write: { file_path?: string; content?: string; [key: string]: unknown };
  Edit: {
    file_path?: string;
    old_string?: string;
    new_string?: string;
    replace_all?: boolean;
    edits?: { old_string: string; new_string: string }[];
    /** The patch, on Codex. */
    command?: string;
    [key: string]: unknown;
  };
  Delete: { file_path?: string; [key: string]: unknown };
  LS: { file_path?: string; path?: string; [key: string]: unknown };
  Glob: { pattern?: string; path?: string; [key: string]: unknown };
  Grep: { pattern?: string; path?: string; glob?: string; output_mode?: string; [key: string]: unknown };
  WebFetch: { url?: string; prompt?: string; [key: string]: unknown };
  WebSearch: { query?: string; [key: string]: unknown };
  Task: { description?: string; prompt?: string; subagent_type?: string; [key: string]: unknown };
  TodoWrite: { todos?: unknown[]; [key: string]: unknown };
  /** The arguments of the server's tool; `mcp` says which. */
  MCP: JsonObject;
};

export type KnownTool = keyof ToolInputs;

/**
 * Stands in the types for every tool that is not in `ToolInputs`, so that comparing `tool` narrows `input`; the value is
 * the host's own name. To find one of these, compare `nativeTool`.
 */
export type UnknownTool = "(another tool)";

type Call<Tool, Input> = {
  /** One name for the same tool on all hosts: a shell is `Bash`, an MCP tool `MCP`, a patch `Edit`. */
  tool: Tool;
  /** What the host calls it: `Shell`, `mcp__github__search`, `apply_patch`. */
  nativeTool: string;
  input: Input;
  /** The files that the arguments name. */
  paths: string[];
  /** Of an MCP tool. Not every host says which server it belongs to. */
  mcp?: { server?: string; tool: string };
  callId?: string;
};
type AnyCall = { [Tool in KnownTool]: Call<Tool, ToolInputs[Tool]> }[KnownTool] | Call<UnknownTool, JsonObject>;

export type PreToolUse = Base<"PreToolUse"> & AnyCall;
export type PostToolUse = Base<"PostToolUse"> & AnyCall & { output?: unknown; durationMs?: number };
export type PostToolUseFailure = Base<"PostToolUseFailure"> &
  AnyCall & { error: string; isInterrupt?: boolean; durationMs?: number };
/** A person is about to be asked about a call. No decision, or `ask`: they are. */
export type PermissionRequest = Base<"PermissionRequest"> & AnyCall;
export type UserPromptSubmit = Base<"UserPromptSubmit"> & {
  prompt: string;
  attachments: { type: string; file_path: string }[];
};
export type SessionStart = Base<"SessionStart"> & { source?: string };
export type SessionEnd = Base<"SessionEnd"> & { reason?: string };
/** `isContinued`: a hook has made the agent go on before; to do so for ever is a loop. */
export type Stop = Base<"Stop"> & { isContinued: boolean; status?: string; lastMessage?: string | null };
export type PreCompact = Base<"PreCompact"> & { trigger?: string };
type Subagent = { agentId?: string; agentType?: string; task?: string };
export type SubagentStart = Base<"SubagentStart"> & Subagent;
export type SubagentStop = Base<"SubagentStop"> &
  Subagent & { isContinued: boolean; status?: string; lastMessage?: string | null };

type EventsByName = {
  SessionStart: SessionStart;
  PreToolUse: PreToolUse;
  PostToolUse: PostToolUse;
  UserPromptSubmit: UserPromptSubmit;
  Stop: Stop;
  SessionEnd: SessionEnd;
  PreCompact: PreCompact;
  SubagentStart: SubagentStart;
  SubagentStop: SubagentStop;
  PostToolUseFailure: PostToolUseFailure;
  PermissionRequest: PermissionRequest;
};

/** Scripts written for other bridges find their names too. */
const otherNames = {
  sessionId: "session_id",
  transcriptPath: "transcript_path",
  input: "tool_input",
  nativeTool: "native_tool",
  output: "tool_response",
  durationMs: "duration_ms",
  isContinued: "stop_hook_active",
  lastMessage: "last_assistant_message",
} as const;
type OtherNames = typeof otherNames;
type WithOtherNames<Event> = Event extends unknown
  ? Event & { [Key in keyof Event as Key extends keyof OtherNames ? OtherNames[Key] : never]: Event[Key] }
  : never;

/** The event of a name, narrowed by `tool` where it has one. */
export type BridgeEventOf<Name extends HookName> = WithOtherNames<EventsByName[Name]>;
export type BridgeEvent = { [Name in HookName]: BridgeEventOf<Name> }[HookName];

/** An event as a host's table builds it. What is undefined is left out. */
export type EventDraft = { event: HookName; host: HostName; nativeEvent: string; _native: JsonObject } & JsonObject;

export function finishEvent(draft: EventDraft): BridgeEvent {
  const event: JsonObject = {};
  for (const [key, value] of Object.entries(draft)) {
    if (value === undefined) continue;
    event[key] = value;
    if (Object.hasOwn(otherNames, key)) event[otherNames[key as keyof OtherNames]] = value;
  }
  return event as BridgeEvent;
}
