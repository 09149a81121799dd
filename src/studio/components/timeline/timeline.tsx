// Timeline: renders a session. Only rows near the visible part are in the DOM; the reading
// position stays, whatever changes above or below.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { fieldsOf } from "../../../json/object.ts";
import type { Answer, Question } from "../../../protocol/run.ts";
import { QuestionCard } from "../question.tsx";
import { View, type ViewOptions } from "../view-options.tsx";
import { Announcer } from "./announcer.tsx";
import type { TimelineLog } from "./log.ts";
import { Row } from "./row.tsx";
import { type ReadingPosition, Scroller, type TimelineControls } from "./scroller.ts";

/** The properties of `Timeline`. */
export type TimelineProps = Omit<ViewOptions, "openness" | "isStatic"> & {
  log: TimelineLog;
  /** The open questions. Those about a tool call are shown in its card, others at the end. */
  questions?: readonly Question[];
  onAnswer?: (question: Question, answer: Answer) => void;
  /** Ids of questions that were answered here and have not disappeared yet. */
  sent?: ReadonlySet<string>;
  /** The id of a block or a call to go to, whenever it changes and as soon as it exists. */
  target?: string | undefined;
  /** The initial reading position, once it exists; the end by default. */
  start?: ReadingPosition | undefined;
  /** The accessible name of the timeline. */
  label?: string;
  /** Content below the last block. */
  children?: ComponentChildren;
  /** Called with functions that control the timeline. */
  controls?: (controls: TimelineControls) => void;
};

/** The id of the call that a question is about, if the timeline has it: plans and choices are calls as well. */
function askedCallId(question: Question, log: TimelineLog): string | undefined {
  if (question.type === "permission") return log.hasCall(question.callId) ? question.callId : undefined;
  const asked = { plan: ["createPlan", "name"], choices: ["askQuestion", "title"] } as const;
  if (question.type !== "plan" && question.type !== "choices") return undefined;
  const [tool, key] = asked[question.type];
  const name = question.type === "plan" ? question.name : question.title;
  return log.running.find((call) => call.tool === tool && fieldsOf(call.args)[key] === name)?.callId;
}

/** Shows a conversation. */
export function Timeline(props: TimelineProps) {
  const { log, questions = [], onAnswer, sent, target, start, label = "Conversation", ...rest } = props;
  const { children, controls, ...options } = rest;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const scroller = useMemo(() => new Scroller(log, () => redraw(undefined)), []);
  const drawn = useRef(log);
  if (drawn.current !== log) {
    drawn.current = log;
    scroller.replace(log);
  }
  const element = useRef<HTMLDivElement>(null);

  useEffect(() => scroller.follow(), [scroller, log]);
  useEffect(() => scroller.followPrinting(), [scroller]);
  useLayoutEffect(() => scroller.attach(element.current!), [scroller]);
  useLayoutEffect(() => scroller.settle());
  useEffect(() => controls?.(scroller.controls), [scroller, controls]);
  const reached = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (target !== undefined && target !== reached.current && scroller.controls.goTo(target)) reached.current = target;
    if (target === undefined && reached.current === undefined && start && scroller.controls.readFrom(start))
      reached.current = start.id;
  }, [scroller, target, log]);

  const { first, last, before, after } = scroller.range();
  const ofCall = new Map(questions.map((each) => [askedCallId(each, log), each]));
  const atEnd = questions.filter((each) => askedCallId(each, log) === undefined);
  const rows = log.blocks.slice(first, last).map((block, index) => {
    const calls = block.type === "call" ? [block] : block.type === "calls" ? block.calls : [];
    const question = calls.map(({ call }) => ofCall.get(call.callId)).find(Boolean);
    return (
      <Row
        key={block.id}
        block={block}
        index={first + index}
        count={log.blocks.length}
        isOpen={scroller.openness.isOpen(block.id)}
        isChosen={scroller.chosen === first + index}
        link={options.linkTo?.(block.id)}
        question={question}
        onAnswer={question && onAnswer}
        isSent={question !== undefined && sent?.has(question.id) === true}
      />
    );
  });
  return (
    <View {...options} openness={scroller.openness}>
      <div class="cr-timeline">
        <div
          ref={element}
          class="cr-scroll"
          role="feed"
          aria-label={label}
          aria-busy={log.isWorking || log.blocks.length === 0}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll and navigate it.
          tabIndex={0}
          onScroll={() => scroller.scrolled()}
          onKeyDown={(event) => scroller.key(event)}
        >
          <div class="cr-space" style={{ height: before }} />
          <div class="cr-rows">{rows}</div>
          <div class="cr-space" style={{ height: after }} />
          {atEnd.map((question) => (
            <div key={question.id} class="cr-row">
              <QuestionCard question={question} onAnswer={onAnswer} isSent={sent?.has(question.id) === true} />
            </div>
          ))}
          {children}
        </div>
        {scroller.unseen > 0 && (
          <button type="button" class="cr-jump" onClick={() => scroller.controls.move("last")}>
            {scroller.unseen} new ↓
          </button>
        )}
        <Announcer log={log} />
      </div>
    </View>
  );
}
