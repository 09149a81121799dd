// Converts events of a running CLI into unified messages as they arrive. The same events always give the same messages.

import { isObject } from "../json/object.ts";
import type { AgentEvent, EventOf } from "../protocol/event.ts";
import { isErrorOutcome, outcomeText } from "./cursor/calls.ts";
import type { RunEvent, ToolStartEvent } from "./run-event.ts";
import type { UnifiedContent, UnifiedMessage, UnifiedTool, UnifiedToolResultBlock } from "./unified.ts";

/** `startedAt` is the timestamp for events before the first one that has a time. */
export type LiveRunInfo = { tool: UnifiedTool; startedAt: number };

/** Converts events to messages. An answer waits for the next event, so that the last one can carry the usage. */
export async function* liveMessages(
  events: AsyncIterable<RunEvent>,
  info: LiveRunInfo,
): AsyncGenerator<UnifiedMessage> {
  const unify = createUnifier(info);
  for await (const event of events) yield* unify(event);
}

export function createUnifier({ tool, startedAt }: LiveRunInfo): (event: RunEvent) => UnifiedMessage[] {
  let sessionId = tool as string;
  let model: string | undefined;
  let count = 0;
  let lastTime = startedAt;
  let thoughts = "";
  let answer: UnifiedMessage | undefined;

  const messageFromEvent = (
    event: AgentEvent,
    role: UnifiedMessage["role"],
    content: UnifiedContent[],
    id?: string,
  ): UnifiedMessage => ({
    id: id ?? `${sessionId}-${count++}`,
    role,
    content,
    timestamp: (lastTime = event.at ?? lastTime),
    tool,
    ...(role === "assistant" && model !== undefined && { model }),
    _original: event,
  });
  const takeThoughts = (): UnifiedContent[] => {
    const thinking = thoughts;
    thoughts = "";
    return thinking === "" ? [] : [{ type: "thinking", thinking }];
  };
  const takeAnswer = (): UnifiedMessage[] => {
    const held = answer ? [answer] : [];
    answer = undefined;
    return held;
  };

  return (event) => {
    switch (event.type) {
      case "init": {
        sessionId = event.sessionId || sessionId;
        model = event.model;
        const text = `Session: ${event.sessionId}, Model: ${event.model ?? "unknown"}`;
        return [...takeAnswer(), messageFromEvent(event, "system", [{ type: "text", text }])];
      }
      case "user":
        return [...takeAnswer(), messageFromEvent(event, "user", [{ type: "text", text: event.text }])];
      case "thinking":
        thoughts += event.text;
        return takeAnswer();
      case "text_end": {
        const before = takeAnswer();
        answer = messageFromEvent(event, "assistant", [...takeThoughts(), { type: "text", text: event.text }]);
        return before;
      }
      case "tool_start": {
        const use: UnifiedContent = { type: "tool_use", id: event.callId, ...callInCliTerms(event, tool) };
        return [...takeAnswer(), messageFromEvent(event, "assistant", [...takeThoughts(), use], event.callId)];
      }
      case "tool_end":
        return [...takeAnswer(), messageFromEvent(event, "system", [resultBlock(event)])];
      case "done":
      case "fail": {
        if (thoughts !== "" && !answer) answer = messageFromEvent(event, "assistant", takeThoughts());
        if (answer && event.usage) answer.usage = { ...event.usage };
        return takeAnswer();
      }
      default:
        return [];
    }
  };
}

/** Returns the unified name of a tool call, and its input as the agent CLI wrote it, which is in `carried` unless the CLI is Cursor's. */
export function callInCliTerms(
  { name, args, carried }: ToolStartEvent,
  tool: UnifiedTool,
): { name: string; input: unknown } {
  return { name, input: tool !== "cursor" && isObject(carried) && "input" in carried ? carried.input : args };
}

function resultBlock({ callId, outcome, carried }: EventOf<"tool_end">): UnifiedToolResultBlock {
  const output = isObject(carried) && typeof carried.output === "string" ? carried.output : undefined;
  const content = output ?? outcomeText(outcome);
  return { type: "tool_result", tool_use_id: callId, content, is_error: isErrorOutcome(outcome) };
}
