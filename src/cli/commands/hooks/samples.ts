// Sample payloads for `hooks test`: one ordinary moment of a run for each event.

import type { JsonObject } from "../../../json/object.ts";
import type { HookEventName } from "../../../protocol/hook-events.ts";

const file = "src/hello.ts";

/** Returns the fields of this event. The fields that all payloads share are added where hooks are fired. */
export function sampleOf(event: HookEventName, workspace: string): JsonObject {
  return samples(workspace)[event];
}

function samples(workspace: string): Record<HookEventName, JsonObject> {
  const command = "echo hello";
  const path = `${workspace}/${file}`;
  const edits = [{ old_string: "hello", new_string: "hello, world" }];
  const call = { tool_name: "Shell", tool_input: { command }, tool_use_id: "sample-call", cwd: workspace };
  const subagent = {
    subagent_id: "sample-agent",
    subagent_type: "explore",
    task: "Find the tests",
    parent_conversation_id: "sample",
  };
  return {
    sessionStart: { is_background_agent: false },
    sessionEnd: { reason: "completed", duration_ms: 1200, is_background_agent: false, final_status: "completed" },
    beforeSubmitPrompt: { prompt: "say hello", attachments: [] },
    preToolUse: call,
    postToolUse: { ...call, tool_output: JSON.stringify({ exitCode: 0, stdout: "hello\n", stderr: "" }), duration: 12 },
    postToolUseFailure: {
      ...call,
      error_message: "It took too long.",
      failure_type: "timeout",
      duration: 12,
      is_interrupt: false,
    },
    subagentStart: { ...subagent, tool_call_id: "sample-call", subagent_model: "sample", is_parallel_worker: false },
    subagentStop: {
      ...subagent,
      status: "completed",
      description: "Find the tests",
      summary: "They are in test/.",
      duration_ms: 900,
      message_count: 3,
      tool_call_count: 2,
      loop_count: 0,
      modified_files: [],
      agent_transcript_path: null,
    },
    beforeShellExecution: { command, cwd: workspace, sandbox: false },
    afterShellExecution: { command, output: "hello\n", duration: 12, sandbox: false },
    beforeMCPExecution: { tool_name: "search", tool_input: '{"query":"hello"}', command: "npx docs-server" },
    afterMCPExecution: {
      tool_name: "search",
      tool_input: '{"query":"hello"}',
      result_json: '{"content":[]}',
      duration: 12,
    },
    beforeReadFile: { file_path: path, content: "hello\n", attachments: [] },
    afterFileEdit: { file_path: path, edits },
    afterAgentResponse: { text: "Hello." },
    afterAgentThought: { text: "The user wants a greeting.", duration_ms: 300 },
    preCompact: {
      trigger: "auto",
      context_usage_percent: 85,
      context_tokens: 170_000,
      context_window_size: 200_000,
      message_count: 120,
      messages_to_compact: 100,
      is_first_compaction: true,
    },
    stop: { status: "completed", loop_count: 0 },
    workspaceOpen: {},
    beforeTabFileRead: { file_path: path, content: "hello\n" },
    afterTabFileEdit: { file_path: path, edits },
  };
}
