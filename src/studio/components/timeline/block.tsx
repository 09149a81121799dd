// One block of a timeline, by what it is.
import type { Answer, Question } from "../../../protocol/run.ts";
import { AssistantMessage, Notice, ResultLine, Thinking, UserMessage } from "../messages.tsx";
import { QuestionCard } from "../question.tsx";
import { toolComponent } from "../tools/index.tsx";
import { TaskTool } from "../tools/task.tsx";
import type { Block } from "./blocks.ts";

export type BlockProps = {
  block: Block;
  /** What is asked about this call, where a reader can answer. */
  question?: Question | undefined;
  onAnswer?: ((question: Question, answer: Answer) => void) | undefined;
  isSent?: boolean;
};

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
    case "call": {
      const asked = question && <QuestionCard question={question} onAnswer={onAnswer} isSent={isSent} isInCard />;
      const call = question ? { ...block.call, isAsked: true } : block.call;
      if (call.tool === "task") return <TaskTool call={call} id={block.id} question={asked} drawBlock={drawStep} />;
      const Tool = toolComponent(call.tool);
      return <Tool call={call} id={block.id} question={asked} />;
    }
  }
}

function drawStep(block: Block) {
  return (
    <div key={block.id} class="cr-step">
      <BlockView block={block} />
    </div>
  );
}
