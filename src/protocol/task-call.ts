// Builds the tool call that starts a subagent, as the wire spells it: its arguments, its steps, and its result.
import type { AgentEvent } from "./event.ts";
import { keyOfTool } from "./tool-calls.ts";
import type { ConversationStep, TaskToolCallArgs, TaskToolCallResult } from "./tool-shapes.ts";

/** Subagent types that have their own name on the wire. */
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

/** Returns the notice for a background subagent that has ended. */
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

/** The limit for the results in one call, in characters; beyond it, calls are listed without results. */
const maxResultText = 200_000;

/** Collects the steps of a conversation from its events. */
export function collectSteps() {
  let thinking = "";
  let thinkingSince = 0;
  let room = maxResultText;
  return {
    steps: [] as ConversationStep[],
    /** The number of calls that have ended, including failed ones. */
    calls: 0,
    /** The paths of the files that the subagent changed. */
    changed: new Set<string>(),
    /** The subagent's last text. */
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
          const shownCall = { args, ...(result && room > 0 && { result }) };
          this.steps.push({ toolCall: { [keyOfTool(tool)]: shownCall, toolCallId: callId } });
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
