// The table of hook events: what a hook may answer, what the answer does, and what a matcher is compared with. Both the agent
// that fires hooks and the bridge that answers as one read it.

/**
 * What an answer can do. `permit`: allow, deny or ask about a call. `prompt`: accept or block a prompt. `context`: add context
 * for the model. `followup`: continue with another prompt. `observe`: nothing.
 */
export type HookEffect = "permit" | "prompt" | "context" | "followup" | "observe";

type Fields = Readonly<Record<string, "string" | "boolean" | "object" | "array" | "permission">>;

export type HookEvent = {
  effect: HookEffect;
  /** The fields of the hook's answer, all of which are optional. */
  answer: Fields;
  /** What a `matcher` is compared with: a field of the payload, or a fixed word. Absent for events without matchers. */
  subject?: { field: string } | { word: string };
  /** Fired by editors only; listed so that it is not reported as unknown. */
  editorOnly?: true;
  /** The name of the event in Claude Code. */
  claude?: string;
  /** The name of the event in Gemini CLI. */
  gemini?: string;
};

/** The fields common to all payloads that `workspaceOpen` also has. */
export const openFields = ["hook_event_name", "cursor_version", "workspace_roots", "user_email"] as const;

const verdict: Fields = { permission: "permission", user_message: "string", agent_message: "string" };
const byTool = { field: "tool_name" };

const events = {
  sessionStart: {
    effect: "context",
    answer: { env: "object", additional_context: "string" },
    claude: "SessionStart",
    gemini: "SessionStart",
  },
  sessionEnd: { effect: "observe", answer: {}, claude: "SessionEnd", gemini: "SessionEnd" },
  beforeSubmitPrompt: {
    effect: "prompt",
    answer: { continue: "boolean", user_message: "string" },
    subject: { word: "UserPromptSubmit" },
    claude: "UserPromptSubmit",
    gemini: "BeforeAgent",
  },
  preToolUse: {
    effect: "permit",
    answer: { ...verdict, updated_input: "object" },
    subject: byTool,
    claude: "PreToolUse",
    gemini: "BeforeTool",
  },
  postToolUse: {
    effect: "context",
    answer: { additional_context: "string", updated_mcp_tool_output: "object" },
    subject: byTool,
    claude: "PostToolUse",
    gemini: "AfterTool",
  },
  postToolUseFailure: { effect: "observe", answer: {}, subject: byTool, claude: "PostToolUseFailure" },
  subagentStart: {
    effect: "permit",
    answer: { permission: "permission", user_message: "string" },
    subject: { field: "subagent_type" },
    claude: "SubagentStart",
  },
  subagentStop: {
    effect: "followup",
    answer: { followup_message: "string" },
    subject: { field: "subagent_type" },
    claude: "SubagentStop",
  },
  beforeShellExecution: { effect: "permit", answer: verdict, subject: { field: "command" } },
  afterShellExecution: { effect: "observe", answer: {}, subject: { field: "command" } },
  beforeMCPExecution: { effect: "permit", answer: verdict, subject: byTool },
  afterMCPExecution: { effect: "observe", answer: {}, subject: byTool },
  beforeReadFile: {
    effect: "permit",
    answer: { permission: "permission", user_message: "string" },
    subject: { word: "Read" },
  },
  afterFileEdit: { effect: "observe", answer: {}, subject: { word: "Write" } },
  afterAgentResponse: { effect: "observe", answer: {}, subject: { word: "AgentResponse" } },
  afterAgentThought: { effect: "observe", answer: {}, subject: { word: "AgentThought" } },
  preCompact: { effect: "observe", answer: { user_message: "string" }, claude: "PreCompact", gemini: "PreCompress" },
  stop: {
    effect: "followup",
    answer: { followup_message: "string" },
    subject: { word: "Stop" },
    claude: "Stop",
    gemini: "AfterAgent",
  },
  workspaceOpen: { effect: "observe", answer: { pluginPaths: "array" } },
  beforeTabFileRead: {
    effect: "permit",
    answer: { permission: "permission" },
    subject: { word: "TabRead" },
    editorOnly: true,
  },
  afterTabFileEdit: { effect: "observe", answer: {}, subject: { word: "TabWrite" }, editorOnly: true },
} satisfies Record<string, HookEvent>;

export type HookEventName = keyof typeof events;

export const hookEvents: Readonly<Record<HookEventName, HookEvent>> = events;

/** Returns whether hooks of this event run before an action and may refuse it. */
export function canRefuse(event: HookEventName): boolean {
  return ["permit", "prompt"].includes(hookEvents[event].effect);
}

/** Maps Claude's tool names to Cursor's, where they differ. */
export const cursorToolNames: Readonly<Record<string, string>> = { Bash: "Shell", Edit: "Write", MultiEdit: "Write" };

/** The names of tools in Gemini CLI, in matchers and payloads. */
export const geminiToolNames: Readonly<Record<string, string>> = {
  Bash: "run_shell_command",
  Shell: "run_shell_command",
  Read: "read_file",
  Write: "write_file",
  Edit: "replace",
  LS: "list_directory",
  Glob: "glob",
  Grep: "grep_search",
  WebFetch: "web_fetch",
  WebSearch: "google_web_search",
  TodoWrite: "write_todos",
};

/** Replaces the tool names in a matcher. */
export function renamedTools(matcher: string, names: Readonly<Record<string, string>>): string {
  const words = matcher.replace(/\b[A-Za-z]+\b/g, (word) => (Object.hasOwn(names, word) ? names[word]! : word));
  // Remove duplicates, since two names may map to the same one.
  return /^\w+(\|\w+)*$/.test(words) ? [...new Set(words.split("|"))].join("|") : words;
}

export function isHookEvent(name: string): name is HookEventName {
  return Object.hasOwn(events, name);
}
