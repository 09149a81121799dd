// What the payload of each hook event holds, for the tests of payloads and of the page about hooks.
import type { HookEventName } from "../../src/protocol/hook-events.ts";

/** `?` at the end: may be absent. */
type FieldKind = "string" | "number" | "boolean" | "object" | "array" | "string|null";
type Fields = Readonly<Record<string, FieldKind | `${FieldKind}?`>>;

/** In every payload but that of `workspaceOpen`. */
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

const ofTool: Fields = { tool_name: "string", tool_input: "object", tool_use_id: "string", cwd: "string" };

/** What it holds beside the common fields. */
export const hookPayloads: Readonly<Record<HookEventName, Fields>> = {
  sessionStart: { is_background_agent: "boolean", is_resumed: "boolean?", composer_mode: "string?" },
  sessionEnd: {
    reason: "string",
    duration_ms: "number",
    is_background_agent: "boolean",
    final_status: "string",
    error_message: "string?",
  },
  beforeSubmitPrompt: { prompt: "string", attachments: "array" },
  preToolUse: { ...ofTool, agent_message: "string?" },
  postToolUse: { ...ofTool, tool_output: "string", duration: "number" },
  postToolUseFailure: {
    ...ofTool,
    error_message: "string",
    failure_type: "string",
    duration: "number",
    is_interrupt: "boolean",
  },
  subagentStart: {
    subagent_id: "string",
    subagent_type: "string",
    task: "string",
    parent_conversation_id: "string",
    tool_call_id: "string",
    subagent_model: "string",
    is_parallel_worker: "boolean",
    git_branch: "string?",
  },
  subagentStop: {
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
  beforeShellExecution: { command: "string", cwd: "string", sandbox: "boolean" },
  afterShellExecution: { command: "string", output: "string", duration: "number", sandbox: "boolean" },
  beforeMCPExecution: { tool_name: "string", tool_input: "string", url: "string?", command: "string?" },
  afterMCPExecution: { tool_name: "string", tool_input: "string", result_json: "string", duration: "number" },
  beforeReadFile: { file_path: "string", content: "string", attachments: "array" },
  afterFileEdit: { file_path: "string", edits: "array" },
  afterAgentResponse: { text: "string" },
  afterAgentThought: { text: "string", duration_ms: "number?" },
  preCompact: {
    trigger: "string",
    context_usage_percent: "number",
    context_tokens: "number",
    context_window_size: "number",
    message_count: "number",
    messages_to_compact: "number",
    is_first_compaction: "boolean",
  },
  stop: { status: "string", loop_count: "number" },
  workspaceOpen: {},
  beforeTabFileRead: { file_path: "string", content: "string" },
  afterTabFileEdit: { file_path: "string", edits: "array" },
};
