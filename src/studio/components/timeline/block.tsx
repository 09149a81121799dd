// Renders one block of a timeline by its type.
import type { Answer, Question } from "../../../protocol/run.ts";
import { AssistantMessage, Notice, ResultLine, Thinking, UserMessage } from "../messages.tsx";
import { QuestionCard } from "../question.tsx";
import { toolComponent } from "../tools/index.tsx";
import { QuietCalls } from "../tools/quiet.tsx";
import { TaskTool } from "../tools/task.tsx";
import type { Block, ToolCall } from "./blocks.ts";

/** The properties of `BlockView`. */
export type BlockProps = {
  block: Block;
  /** The open question about this call, if the reader can answer it. */
  question?: Question | undefined;
  onAnswer?: ((question: Question, answer: Answer) => void) | undefined;
  isSent?: boolean | undefined;
};

/** Shows a block of a conversation. */
export function BlockView({ block, question, onAnswer, isSent }: BlockProps) {
  switch (block.type) {
    case "user":
      return <UserMessage {...block} />;
    case "text":
      return <AssistantMessage {...block} />;
    case "thinking":
      return <Thinking {...block} />;
    case "notice":
      return <Notice {...block} />;
    case "ending":
      return <ResultLine {...block} />;
    case "call":
      return <Call id={block.id} call={block.call} question={question} onAnswer={onAnswer} isSent={isSent} />;
    case "calls": {
      const asked = question?.type === "permission" ? question.callId : undefined;
      return (
        <QuietCalls
          id={block.id}
          calls={block.calls}
          draw={({ id, call }) => {
            const isAsked = call.callId === asked;
            return <Call key={id} id={id} call={call} {...(isAsked && { question, onAnswer, isSent })} />;
          }}
        />
      );
    }
  }
}

type CallProps = Omit<BlockProps, "block"> & { id: string; call: ToolCall };

function Call({ id, call: known, question, onAnswer, isSent }: CallProps) {
  const asked = question && <QuestionCard question={question} onAnswer={onAnswer} isSent={isSent} isInCard />;
  const call = question ? { ...known, isAsked: true } : known;
  if (call.tool === "task") return <TaskTool call={call} id={id} question={asked} drawBlock={drawStep} />;
  const Tool = toolComponent(call.tool);
  return <Tool call={call} id={id} question={asked} />;
}

function drawStep(block: Block) {
  return (
    <div key={block.id} class="cr-step">
      <BlockView block={block} />
    </div>
  );
}
