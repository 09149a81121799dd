// Events of a running CLI -> unified messages, as they come. The same events give the same messages, whoever reads them.

import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { isErrorOutcome, outcomeText } from "./cursor/calls.ts";
import type { RunEvent, ToolStartEvent } from "./run-event.ts";
import type { UnifiedContent, UnifiedMessage, UnifiedTool, UnifiedToolResultBlock } from "./unified.ts";

type LineOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** `startedAt`: the time of what happened before the CLI told the first time. */
export type LiveRunInfo = { tool: UnifiedTool; startedAt: number };

/** An answer is told when the next thing happens, so that the last one can have the usage of the turn. */
export async function* liveMessages(
  events: AsyncIterable<RunEvent>,
  facts: LiveRunInfo,
): AsyncGenerator<UnifiedMessage> {
  const unify = createUnifier(facts);
  for await (const event of events) yield* unify(event);
}

export function createUnifier({ tool, startedAt }: LiveRunInfo): (event: RunEvent) => UnifiedMessage[] {
  let sessionId = tool as string;
  let model: string | undefined;
  let count = 0;
  let lastTime = startedAt;
  let thoughts = "";
  let answer: UnifiedMessage | undefined;

  const messageOf = (
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
    const said = thoughts;
    thoughts = "";
    return said === "" ? [] : [{ type: "thinking", thinking: said }];
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
        return [...takeAnswer(), messageOf(event, "system", [{ type: "text", text }])];
      }
      case "user":
        return [...takeAnswer(), messageOf(event, "user", [{ type: "text", text: event.text }])];
      case "thinking":
        thoughts += event.text;
        return takeAnswer();
      case "text_end": {
        const before = takeAnswer();
        answer = messageOf(event, "assistant", [...takeThoughts(), { type: "text", text: event.text }]);
        return before;
      }
      case "tool_start": {
        const use: UnifiedContent = { type: "tool_use", id: event.callId, ...callOf(event, tool) };
        return [...takeAnswer(), messageOf(event, "assistant", [...takeThoughts(), use], event.callId)];
      }
      case "tool_end":
        return [...takeAnswer(), messageOf(event, "system", [resultBlock(event)])];
      case "done":
      case "fail": {
        if (thoughts !== "" && !answer) answer = messageOf(event, "assistant", takeThoughts());
        if (answer && event.usage) answer.usage = { ...event.usage };
        return takeAnswer();
      }
      default:
        return [];
    }
  };
}

/** The one name of the call, the input as the source spells it. */
export function callOf({ name, args, carried }: ToolStartEvent, tool: UnifiedTool): { name: string; input: unknown } {
  return { name, input: tool !== "cursor" && isObject(carried) && "input" in carried ? carried.input : args };
}

function resultBlock({ callId, outcome, carried }: LineOf<"tool_end">): UnifiedToolResultBlock {
  const told = isObject(carried) && typeof carried.output === "string" ? carried.output : undefined;
  const content = told ?? outcomeText(outcome);
  return { type: "tool_result", tool_use_id: callId, content, is_error: isErrorOutcome(outcome) };
}
