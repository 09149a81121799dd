// The call that starts a subagent, as the wire spells it: its arguments, what the subagent did, how it ended.
import type { AgentEvent } from "./event.ts";
import { keyOfTool } from "./tool-calls.ts";
import type { ConversationStep, TaskToolCallArgs, TaskToolCallResult } from "./tool-shapes.ts";

/** Subagents that the wire has a name of its own for. */
const ownNames = new Set(["explore", "bash", "shell"]);

export type TaskRequest = {
  description: string;
  prompt: string;
  subagent: string;
  agentId: string;
  model?: string | undefined;
  resume?: string | undefined;
  isBackground?: boolean | undefined;
};

export function taskArgs(request: TaskRequest): TaskToolCallArgs {
  const { description, prompt, subagent, agentId, model, resume, isBackground } = request;
  return {
    description,
    prompt,
    subagentType: ownNames.has(subagent) ? { [subagent]: {} } : { custom: { name: subagent } },
    ...(model !== undefined && { model }),
    ...(resume !== undefined && { resume }),
    agentId,
    attachments: [],
    mode: "TASK_MODE_UNSPECIFIED",
    respondingToMessageIds: [],
    environment: "SUBAGENT_EXECUTION_ENVIRONMENT_LOCAL",
    ...(isBackground && { runInBackground: true }),
  };
}

export type TaskEnd = {
  agentId: string;
  steps: ConversationStep[];
  isBackground: boolean;
  durationMs?: number;
  transcriptPath?: string | undefined;
};

export function taskSuccess({
  agentId,
  steps,
  isBackground,
  durationMs,
  transcriptPath,
}: TaskEnd): NonNullable<TaskToolCallResult["success"]> {
  return {
    conversationSteps: steps,
    agentId,
    isBackground,
    backgroundReason: `SUBAGENT_BACKGROUND_REASON_${isBackground ? "AGENT_REQUEST" : "UNSPECIFIED"}`,
    ...(durationMs !== undefined && { durationMs: String(durationMs) }),
    ...(transcriptPath !== undefined && { transcriptPath }),
  };
}

/** What a reader is told when a subagent ends that was left to itself. */
export function taskNotice(task: { agentId: string; status: string; title: string; detail: string }): AgentEvent {
  const { agentId, status, title, detail } = task;
  const message = `The subagent "${title}" ${status === "success" ? "has ended" : "failed"}.`;
  return {
    type: "notice",
    kind: "task_notification",
    message,
    fields: { task_id: agentId, status, title, detail },
    at: Date.now(),
  };
}

/** Characters of results that one call carries: beyond them, calls are told without theirs. */
const mostResultText = 200_000;

/** The steps of a conversation, from its events. */
export function collectSteps() {
  let thinking = "";
  let thinkingSince = 0;
  let room = mostResultText;
  return {
    steps: [] as ConversationStep[],
    /** Started calls, also those that failed. */
    calls: 0,
    /** Files that were changed. */
    changed: new Set<string>(),
    /** What was said last. */
    lastText: "",
    add(event: AgentEvent): void {
      switch (event.type) {
        case "thinking":
          if (thinking === "") thinkingSince = event.at ?? 0;
          thinking += event.text;
          break;
        case "thinking_end":
          if (thinking !== "")
            this.steps.push({
              thinkingMessage: { text: thinking, durationMs: Math.max(0, (event.at ?? 0) - thinkingSince) },
            });
          thinking = "";
          break;
        case "text_end":
          this.lastText = event.text;
          this.steps.push({ assistantMessage: { text: event.text } });
          break;
        case "tool_end": {
          this.calls++;
          const { callId, tool, args, outcome } = event;
          const result = outcome && { [outcome.kind]: outcome.value, ...outcome.siblings };
          room -= JSON.stringify(result ?? null).length;
          const told = { args, ...(result && room > 0 && { result }) };
          this.steps.push({ toolCall: { [keyOfTool(tool)]: told, toolCallId: callId } });
          const path = (args as { path?: unknown } | null)?.path;
          if ((tool === "edit" || tool === "delete") && outcome?.kind === "success" && typeof path === "string")
            this.changed.add(path);
          break;
        }
        default:
          break;
      }
    },
  };
}
