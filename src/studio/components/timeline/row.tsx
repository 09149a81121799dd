// A row of the timeline, rendered again only when its block or its state changes.
import { Component } from "preact";
import type { Answer, Question } from "../../../protocol/run.ts";
import { BlockView } from "./block.tsx";
import type { Block } from "./blocks.ts";

export type RowProps = {
  block: Block;
  index: number;
  count: number;
  /** Whether the reader opened or closed it, if either. */
  isOpen: boolean | undefined;
  isChosen: boolean;
  link: string | undefined;
  question: Question | undefined;
  onAnswer: ((question: Question, answer: Answer) => void) | undefined;
  isSent: boolean;
};

export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((key) => next[key] !== this.props[key]);
  }

  override render({ block, index, count, isChosen, link, question, onAnswer, isSent }: RowProps) {
    return (
      <article
        id={block.id}
        class={`cr-row cr-row-${block.type}${isChosen ? " cr-chosen" : ""}`}
        data-row={index}
        aria-posinset={index + 1}
        aria-setsize={count}
        aria-label={labels[block.type]}
        tabIndex={-1}
      >
        <BlockView block={block} question={question} onAnswer={onAnswer} isSent={isSent} />
        {link !== undefined && (
          <a class="cr-link" href={link} aria-label="Link to this">
            #
          </a>
        )}
      </article>
    );
  }
}

const labels: Record<Block["type"], string> = {
  user: "User",
  text: "Assistant",
  thinking: "Thinking",
  call: "Tool call",
  calls: "Tool calls",
  notice: "Notice",
  ending: "Result",
};
