// BridgeEvent: what a handler receives, the same on every host.
import type { JsonObject } from "../json/object.ts";

/** The names of all hosts. */
export const hostNames = ["cursor", "claude", "codex", "gemini"] as const;
/** The name of a host, such as `claude`. */
export type HostName = (typeof hostNames)[number];

/** Events that every host has. */
export const commonHookNames = ["SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] as const;

/** Events that only some hosts have; `cursor` needs `events: "all"` for them. */
export const furtherHookNames = [
  "SessionEnd",
  "PreCompact",
  "SubagentStart",
  "SubagentStop",
  "PostToolUseFailure",
  "PermissionRequest",
] as const;

/** The names of all events. */
export const hookNames = [...commonHookNames, ...furtherHookNames] as const;
/** The name of an event, such as `PreToolUse`. */
export type HookName = (typeof hookNames)[number];

/** The events of Codex, which does not report calls that fail. */
export const codexHookNames = hookNames.filter((name) => name !== "PostToolUseFailure");

/** The fields of every event. */
type Base<Name extends HookName> = {
  event: Name;
  host: HostName;
  /** The host's own name for this event: `beforeShellExecution`. */
  nativeEvent: string;
  cwd?: string;
  sessionId?: string;
  transcriptPath?: string | null;
  model?: string;
  /** The host's payload, complete and unchanged. */
  _native: JsonObject;
};

/**
 * Arguments of known tools. Hosts send more fields than these; only `Bash.command` is present on all of them. The files that
 * a call is about are in `paths`, whatever a host calls its arguments.
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
    /** The text of the patch, on Codex. */
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
  /** The arguments of the server's tool; `mcp` names it. */
  MCP: JsonObject;
};

/** The name of a tool whose argument types are listed in `ToolInputs`. */
export type HookTool = keyof ToolInputs;

/**
 * The type of `tool` for every tool that is not in `ToolInputs`, so that comparing `tool` narrows `input`; the actual value
 * is the host's own name. To match such a tool, compare `nativeTool`.
 */
export type UnknownTool = "(another tool)";

type Call<Tool, Input> = {
  /** The tool's name, the same on all hosts: a shell is `Bash`, an MCP tool `MCP`, a patch `Edit`. */
  tool: Tool;
  /** The host's own name: `Shell`, `mcp__github__search`, `apply_patch`. */
  nativeTool: string;
  input: Input;
  /** The files that the arguments name. */
  paths: string[];
  /** The MCP tool, if it is one. Not every host reports its server. */
  mcp?: { server?: string; tool: string };
  callId?: string;
};
type AnyCall = { [Tool in HookTool]: Call<Tool, ToolInputs[Tool]> }[HookTool] | Call<UnknownTool, JsonObject>;

/** The event before a tool runs. */
export type PreToolUse = Base<"PreToolUse"> & AnyCall;
/** The event after a tool has run. */
export type PostToolUse = Base<"PostToolUse"> & AnyCall & { output?: unknown; durationMs?: number };
/** The event after a tool call has failed. */
export type PostToolUseFailure = Base<"PostToolUseFailure"> &
  AnyCall & { error: string; isInterrupt?: boolean; durationMs?: number };
/** The event before the user is asked about a call. Without a decision, or with `ask`, the user is asked. */
export type PermissionRequest = Base<"PermissionRequest"> & AnyCall;
/** The event when the user submits a prompt. */
export type UserPromptSubmit = Base<"UserPromptSubmit"> & {
  prompt: string;
  attachments: { type: string; file_path: string }[];
};
/** The event when a session begins. */
export type SessionStart = Base<"SessionStart"> & { source?: string };
/** The event when a session ends. */
export type SessionEnd = Base<"SessionEnd"> & { reason?: string };
/** The event before the agent stops. `isContinued` is true if a hook has already made it go on: check it to avoid a loop. */
export type Stop = Base<"Stop"> & { isContinued: boolean; status?: string; lastMessage?: string | null };
/** The event before the conversation is compacted. */
export type PreCompact = Base<"PreCompact"> & { trigger?: string };
type Subagent = { agentId?: string; agentType?: string; task?: string };
/** The event when a subagent starts. */
export type SubagentStart = Base<"SubagentStart"> & Subagent;
/** The event when a subagent finishes. */
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

/** Other names of fields, for scripts that were written for other bridges. */
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

/** The event of a name, narrowed by `tool` if it has one. */
export type BridgeEventOf<Name extends HookName> = WithOtherNames<EventsByName[Name]>;
/** Any event, as a handler receives it. */
export type BridgeEvent = { [Name in HookName]: BridgeEventOf<Name> }[HookName];

/** An event as a host's table builds it. Undefined fields are left out. */
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
