// Fires the hooks around a subagent: before it starts, which may refuse it, and after it ended, which may send a follow-up.

import type { TurnStatus } from "./agent-hooks.ts";
import { lastMs } from "./call-hooks.ts";
import type { Hooks } from "./index.ts";

export type SubagentStartInfo = {
  id: string;
  type: string;
  task: string;
  description: string;
  parentId: string;
  callId: string;
  model: string;
  isParallel: boolean;
  branch?: string | undefined;
};

export type SubagentEndInfo = {
  status: TurnStatus;
  /** The last message of the subagent. */
  summary: string;
  durationMs: number;
  messages: number;
  calls: number;
  /** How many follow-up prompts hooks have sent to this subagent. */
  rounds: number;
  changed: readonly string[];
  transcriptPath: string | undefined;
};

export interface SubagentHooks {
  subagentStart(start: SubagentStartInfo, signal: AbortSignal): Promise<{ refusal?: string }>;
  /** Fires the `subagentStop` hooks. Returns the follow-up prompt of a hook, if there is one. */
  subagentStop(start: SubagentStartInfo, end: SubagentEndInfo, signal: AbortSignal): Promise<string | undefined>;
}

export function createSubagentHooks(hooks: Hooks): SubagentHooks {
  return {
    async subagentStart(start, signal) {
      const fields = {
        subagent_id: start.id,
        subagent_type: start.type,
        task: start.task,
        parent_conversation_id: start.parentId,
        tool_call_id: start.callId,
        subagent_model: start.model,
        is_parallel_worker: start.isParallel,
        ...(start.branch !== undefined && { git_branch: start.branch }),
      };
      const { permission, messages, reasons } = await hooks.fire("subagentStart", fields, { signal });
      // The user is not asked about subagents, so "ask" refuses too.
      if (permission !== "deny" && permission !== "ask") return {};
      const why = [...new Set([...messages, ...reasons])].join(" ");
      return { refusal: `A hook refused the subagent${why === "" ? "." : `: ${why}`}` };
    },
    async subagentStop(start, end, signal) {
      const fields = {
        subagent_id: start.id,
        subagent_type: start.type,
        parent_conversation_id: start.parentId,
        status: end.status,
        task: start.task,
        description: start.description,
        summary: end.summary,
        duration_ms: end.durationMs,
        message_count: end.messages,
        tool_call_count: end.calls,
        loop_count: end.rounds,
        modified_files: [...end.changed],
        agent_transcript_path: end.transcriptPath ?? null,
      };
      const still = end.status === "completed" ? signal : AbortSignal.timeout(lastMs);
      const { followup } = await hooks.fire("subagentStop", fields, { signal: still });
      return end.status === "completed" && !signal.aborted ? followup : undefined;
    },
  };
}
