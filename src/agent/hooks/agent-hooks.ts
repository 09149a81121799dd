// Fires hooks at each stage of a run: builds their payloads and applies their answers.

import { type Message, messageText } from "../../protocol/message.ts";
import type { CompactionSize } from "../compact/index.ts";
import { type CallHooks, createCallHooks, hookContextBlock, lastMs } from "./call-hooks.ts";
import type { Hooks } from "./index.ts";
import { createSubagentHooks, type SubagentHooks } from "./subagent-hooks.ts";

export type TurnStatus = "completed" | "aborted" | "error";

export interface AgentHooks extends CallHooks, SubagentHooks {
  /** Called once, before the first prompt. Returns context for the model. */
  begin(signal: AbortSignal): Promise<string[]>;
  beforePrompt(prompt: SubmittedPrompt, signal: AbortSignal): Promise<{ refusal?: string; context: string[] }>;
  afterReply(reply: Message, signal: AbortSignal): Promise<void>;
  beforeCompact(size: CompactionSize, signal: AbortSignal): Promise<void>;
  /** Called at the end of a turn. Returns a follow-up prompt if a hook has one. */
  stop(status: TurnStatus, signal: AbortSignal): Promise<string | undefined>;
  /** Fires the `sessionEnd` hooks. */
  end(end: { status: TurnStatus; reason: string; error?: string }, signal: AbortSignal): Promise<void>;
}

export type SubmittedPrompt = {
  text: string;
  requestId: string;
  attachments: readonly { type: "file" | "rule"; path: string }[];
};

export type AgentHooksOptions = {
  hooks: Hooks;
  workspace: string;
  isResumed: boolean;
  warn(message: string): void;
};

export function createAgentHooks(options: AgentHooksOptions): AgentHooks {
  const { hooks, warn, isResumed } = options;
  const startedAt = Date.now();
  let compactions = 0;
  let followups = 0;

  return {
    ...createCallHooks(options),
    ...createSubagentHooks(hooks),
    async begin(signal) {
      await hooks.fire("workspaceOpen", {}, { signal });
      const fields = { is_background_agent: false, is_resumed: isResumed };
      const { context } = await hooks.fire("sessionStart", fields, { signal });
      return context.map((text) => hookContextBlock("sessionStart", text));
    },
    async beforePrompt({ text, requestId, attachments }, signal) {
      hooks.generationId = requestId;
      followups = 0;
      const files = attachments.map(({ type, path }) => ({ type, file_path: path }));
      const answer = await hooks.fire("beforeSubmitPrompt", { prompt: text, attachments: files }, { signal });
      const { permission, messages, reasons, context } = answer;
      if (permission === "deny" || permission === "ask") {
        const why = [...new Set([...messages, ...reasons])].join(" ");
        return { refusal: `A hook stopped the prompt${why === "" ? "." : `: ${why}`}`, context: [] };
      }
      return { context: context.map((each) => hookContextBlock("beforeSubmitPrompt", each)) };
    },
    async afterReply(reply, signal) {
      if (hooks.has("afterAgentThought")) {
        for (const part of reply.parts)
          if (part.type === "thinking" && part.text !== "")
            await hooks.fire("afterAgentThought", { text: part.text }, { signal });
      }
      const text = messageText(reply);
      if (text !== "") await hooks.fire("afterAgentResponse", { text }, { signal });
    },
    async beforeCompact({ trigger, tokens, windowTokens, messages, messagesToCompact }, signal) {
      const fields = {
        trigger,
        context_usage_percent: Math.round((tokens / windowTokens) * 100),
        context_tokens: tokens,
        context_window_size: windowTokens,
        message_count: messages,
        messages_to_compact: messagesToCompact,
        is_first_compaction: compactions++ === 0,
      };
      for (const message of (await hooks.fire("preCompact", fields, { signal })).messages) warn(message);
    },
    async stop(status, signal) {
      const still = status === "completed" ? signal : AbortSignal.timeout(lastMs);
      const { followup } = await hooks.fire("stop", { status, loop_count: followups }, { signal: still });
      if (followup === undefined || status !== "completed" || signal.aborted) return undefined;
      followups++;
      return followup;
    },
    async end({ status, reason, error }, signal) {
      const fields = {
        reason,
        duration_ms: Date.now() - startedAt,
        is_background_agent: false,
        final_status: status,
        ...(error !== undefined && { error_message: error }),
      };
      // When the run is being stopped, wait only briefly for hooks.
      const still = signal.aborted ? AbortSignal.timeout(lastMs) : signal;
      await hooks.fire("sessionEnd", fields, { signal: still });
    },
  };
}
