// The table of hook events: what a hook is told, what it may answer, what the answer does. The agent that fires hooks
// and the bridge that answers as one read the same rows.

/**
 * What an answer can do. `permit`: allow, deny or ask about a call. `prompt`: let a prompt pass or stop it. `context`:
 * tell the model more. `followup`: go on with another prompt. `observe`: nothing.
 */
export type HookEffect = "permit" | "prompt" | "context" | "followup" | "observe";

/** `?` at the end: may be absent. */
export type FieldKind = "string" | "number" | "boolean" | "object" | "array" | "string|null" | "permission";
type Fields = Readonly<Record<string, FieldKind | `${FieldKind}?`>>;

export type HookEvent = {
  effect: HookEffect;
  /** What the payload holds beside the common fields. */
  input: Fields;
  /** Every field is optional in an answer. */
  answer: Fields;
  /** What a `matcher` is compared with: a field of the payload, or a fixed word. None: matchers do not apply. */
  subject?: { field: string } | { word: string };
  /** Fired by editors only; known, so that it is not taken for a mistake. */
  editorOnly?: true;
  /** What Claude Code calls it. */
  claude?: string;
};

/** In every payload; `workspaceOpen` has those of `openFields` only. */
export const commonFields: Fields = {
  conversation_id: "string",
  generation_id: "string",
  session_id: "string",
  model: "string",
  hook_event_name: "string",
  cursor_version: "string",
  workspace_roots: "array",
  user_email: "string|null",
  transcript_path: "string|null",
};
export const openFields = ["hook_event_name", "cursor_version", "workspace_roots", "user_email"] as const;

const verdict: Fields = { permission: "permission", user_message: "string", agent_message: "string" };
const ofTool: Fields = { tool_name: "string", tool_input: "object", tool_use_id: "string", cwd: "string" };
const byTool = { field: "tool_name" };

const events = {
  sessionStart: {
    effect: "context",
    input: { is_background_agent: "boolean", is_resumed: "boolean?", composer_mode: "string?" },
    answer: { env: "object", additional_context: "string" },
    claude: "SessionStart",
  },
  sessionEnd: {
    effect: "observe",
    input: {
      reason: "string",
      duration_ms: "number",
      is_background_agent: "boolean",
      final_status: "string",
      error_message: "string?",
    },
    answer: {},
    claude: "SessionEnd",
  },
  beforeSubmitPrompt: {
    effect: "prompt",
    input: { prompt: "string", attachments: "array" },
    answer: { continue: "boolean", user_message: "string" },
    subject: { word: "UserPromptSubmit" },
    claude: "UserPromptSubmit",
  },
  preToolUse: {
    effect: "permit",
    input: { ...ofTool, agent_message: "string?" },
    answer: { ...verdict, updated_input: "object" },
    subject: byTool,
    claude: "PreToolUse",
  },
  postToolUse: {
    effect: "context",
    input: { ...ofTool, tool_output: "string", duration: "number" },
    answer: { additional_context: "string", updated_mcp_tool_output: "object" },
    subject: byTool,
    claude: "PostToolUse",
  },
  postToolUseFailure: {
    effect: "observe",
    input: {
      ...ofTool,
      error_message: "string",
      failure_type: "string",
      duration: "number",
      is_interrupt: "boolean",
    },
    answer: {},
    subject: byTool,
    claude: "PostToolUseFailure",
  },
  subagentStart: {
    effect: "permit",
    input: {
      subagent_id: "string",
      subagent_type: "string",
      task: "string",
      parent_conversation_id: "string",
      tool_call_id: "string",
      subagent_model: "string",
      is_parallel_worker: "boolean",
      git_branch: "string?",
    },
    answer: { permission: "permission", user_message: "string" },
    subject: { field: "subagent_type" },
    claude: "SubagentStart",
  },
  subagentStop: {
    effect: "followup",
    input: {
      subagent_id: "string",
      subagent_type: "string",
      parent_conversation_id: "string",
      status: "string",
      task: "string",
      description: "string",
      summary: "string",
      duration_ms: "number",
      message_count: "number",
      tool_call_count: "number",
      loop_count: "number",
      modified_files: "array",
      agent_transcript_path: "string|null",
    },
    answer: { followup_message: "string" },
    subject: { field: "subagent_type" },
    claude: "SubagentStop",
  },
  beforeShellExecution: {
    effect: "permit",
    input: { command: "string", cwd: "string", sandbox: "boolean" },
    answer: verdict,
    subject: { field: "command" },
  },
  afterShellExecution: {
    effect: "observe",
    input: { command: "string", output: "string", duration: "number", sandbox: "boolean" },
    answer: {},
    subject: { field: "command" },
  },
  beforeMCPExecution: {
    effect: "permit",
    input: { tool_name: "string", tool_input: "string", url: "string?", command: "string?" },
    answer: verdict,
    subject: byTool,
  },
  afterMCPExecution: {
    effect: "observe",
    input: { tool_name: "string", tool_input: "string", result_json: "string", duration: "number" },
    answer: {},
    subject: byTool,
  },
  beforeReadFile: {
    effect: "permit",
    input: { file_path: "string", content: "string", attachments: "array" },
    answer: { permission: "permission", user_message: "string" },
    subject: { word: "Read" },
  },
  afterFileEdit: {
    effect: "observe",
    input: { file_path: "string", edits: "array" },
    answer: {},
    subject: { word: "Write" },
  },
  afterAgentResponse: {
    effect: "observe",
    input: { text: "string" },
    answer: {},
    subject: { word: "AgentResponse" },
  },
  afterAgentThought: {
    effect: "observe",
    input: { text: "string", duration_ms: "number?" },
    answer: {},
    subject: { word: "AgentThought" },
  },
  preCompact: {
    effect: "observe",
    input: {
      trigger: "string",
      context_usage_percent: "number",
      context_tokens: "number",
      context_window_size: "number",
      message_count: "number",
      messages_to_compact: "number",
      is_first_compaction: "boolean",
    },
    answer: { user_message: "string" },
    claude: "PreCompact",
  },
  stop: {
    effect: "followup",
    input: { status: "string", loop_count: "number" },
    answer: { followup_message: "string" },
    subject: { word: "Stop" },
    claude: "Stop",
  },
  workspaceOpen: { effect: "observe", input: {}, answer: { pluginPaths: "array" } },
  beforeTabFileRead: {
    effect: "permit",
    input: { file_path: "string", content: "string" },
    answer: { permission: "permission" },
    subject: { word: "TabRead" },
    editorOnly: true,
  },
  afterTabFileEdit: {
    effect: "observe",
    input: { file_path: "string", edits: "array" },
    answer: {},
    subject: { word: "TabWrite" },
    editorOnly: true,
  },
} satisfies Record<string, HookEvent>;

export type HookEventName = keyof typeof events;

export const hookEvents: Readonly<Record<HookEventName, HookEvent>> = events;

/** Claude's names of tools -> Cursor's, where they differ. */
export const cursorToolNames: Readonly<Record<string, string>> = { Bash: "Shell", Edit: "Write", MultiEdit: "Write" };

/** The words of a matcher in other names. */
export function renamedTools(matcher: string, names: Readonly<Record<string, string>>): string {
  const words = matcher.replace(/\b[A-Za-z]+\b/g, (word) => (Object.hasOwn(names, word) ? names[word]! : word));
  // Two names may have become one.
  return /^\w+(\|\w+)*$/.test(words) ? [...new Set(words.split("|"))].join("|") : words;
}

export function isHookEvent(name: string): name is HookEventName {
  return Object.hasOwn(events, name);
}
