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
  /** The subagent's last message. */
  summary: string;
  durationMs: number;
  messages: number;
  calls: number;
  /** How many follow-ups hooks have sent it. */
  rounds: number;
  changed: readonly string[];
  transcriptPath: string | undefined;
};

export interface SubagentHooks {
  subagentStart(facts: SubagentStartInfo, signal: AbortSignal): Promise<{ refusal?: string }>;
  /** Returns a follow-up prompt if a hook has one. */
  subagentStop(facts: SubagentStartInfo, end: SubagentEndInfo, signal: AbortSignal): Promise<string | undefined>;
}

export function createSubagentHooks(hooks: Hooks): SubagentHooks {
  return {
    async subagentStart(facts, signal) {
      const fields = {
        subagent_id: facts.id,
        subagent_type: facts.type,
        task: facts.task,
        parent_conversation_id: facts.parentId,
        tool_call_id: facts.callId,
        subagent_model: facts.model,
        is_parallel_worker: facts.isParallel,
        ...(facts.branch !== undefined && { git_branch: facts.branch }),
      };
      const { permission, messages, reasons } = await hooks.fire("subagentStart", fields, { signal });
      // The user is not asked about subagents, so "ask" refuses too.
      if (permission !== "deny" && permission !== "ask") return {};
      const why = [...new Set([...messages, ...reasons])].join(" ");
      return { refusal: `A hook refused the subagent${why === "" ? "." : `: ${why}`}` };
    },
    async subagentStop(facts, end, signal) {
      const fields = {
        subagent_id: facts.id,
        subagent_type: facts.type,
        parent_conversation_id: facts.parentId,
        status: end.status,
        task: facts.task,
        description: facts.description,
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
