// TaskTool: a subagent with its prompt, its messages and its calls.
import type { ComponentChildren } from "preact";
import { fieldsOf, isObject, stringOrEmpty } from "../../../json/object.ts";
import { type ConversationStep, outcomeOf, toolKeyOf, toolOfKey } from "../../../protocol/tool-calls.ts";
import { counted } from "../../../view/numbers.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { Folded } from "../text/folded.tsx";
import { Markdown } from "../text/markdown.tsx";
import type { Block } from "../timeline/blocks.ts";

/** Shows a subagent. `drawBlock` renders a block; it is passed in, since a subagent may start others. */
export function TaskTool({ drawBlock, ...props }: ToolProps & { drawBlock: (block: Block) => ComponentChildren }) {
  const { call } = props;
  const { prompt } = fieldsOf(call.args);
  const { conversationSteps } = fieldsOf(call.outcome?.value);
  const steps =
    call.steps && call.steps.length > 0 ? call.steps : blocksOfSteps(conversationSteps, props.id ?? call.callId);
  const calls = steps.reduce(
    (sum, step) => sum + (step.type === "calls" ? step.calls.length : step.type === "call" ? 1 : 0),
    0,
  );
  const last = steps.findLast((step) => step.type === "text");
  return (
    <Card
      {...props}
      outcome={calls > 0 ? counted(calls, "call") : undefined}
      opensByItself={stateOf(call) === "running" && steps.length > 0}
      peek={last?.type === "text" && stateOf(call) === "ok" && <Markdown text={firstParagraph(last.text)} />}
    >
      {stringOrEmpty(prompt) !== "" && (
        <div class="cr-prompt">
          <Markdown text={stringOrEmpty(prompt)} />
        </div>
      )}
      {steps.length > 0 && (
        <div class="cr-steps">
          <Folded items={steps} first={50} noun="step" draw={drawBlock} />
        </div>
      )}
    </Card>
  );
}

function firstParagraph(text: string): string {
  return text
    .trim()
    .split(/\n\s*\n/)[0]!
    .slice(0, 400);
}

/** Converts the conversation steps in a finished call's result to blocks. */
function blocksOfSteps(steps: unknown, id: string): Block[] {
  if (!Array.isArray(steps)) return [];
  return (steps as ConversationStep[]).filter(isObject).flatMap((step, index): Block[] => {
    const place = { id: `${id}/${index + 1}`, turn: 0 };
    if ("assistantMessage" in step && isObject(step.assistantMessage))
      return [{ ...place, type: "text", text: stringOrEmpty(step.assistantMessage.text) }];
    if ("thinkingMessage" in step && isObject(step.thinkingMessage)) {
      const { text, durationMs } = step.thinkingMessage;
      return [
        {
          ...place,
          type: "thinking",
          text: stringOrEmpty(text),
          ...(typeof durationMs === "number" && { durationMs }),
        },
      ];
    }
    const foundCall = "toolCall" in step && isObject(step.toolCall) ? step.toolCall : undefined;
    const key = foundCall && toolKeyOf(foundCall);
    if (!foundCall || key === undefined) return [];
    const { args, result } = fieldsOf(foundCall[key]);
    const outcome = outcomeOf(result);
    const call = {
      callId: stringOrEmpty(foundCall.toolCallId) || place.id,
      tool: toolOfKey(key),
      args,
      ...(outcome && { outcome }),
    };
    return [{ ...place, type: "call", call }];
  });
}
