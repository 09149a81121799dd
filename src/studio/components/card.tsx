// The card of a tool call: one line with name, target and outcome; details below, folded unless needed.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { fieldsOf } from "../../json/object.ts";
import { errorTextOf, outcomeGroupOf } from "../../protocol/tool-calls.ts";
import { type CallWords, wordsOfCall } from "../../view/call-words.ts";
import { documentText } from "../../view/document-text.ts";
import { duration, runningFor } from "../../view/numbers.ts";
import { Reason } from "./reason.tsx";
import { Pictures } from "./text/picture.tsx";
import type { ToolCall } from "./timeline/blocks.ts";
import { useOpen, usePath, useView } from "./view-options.tsx";

/** The state that a tool call has reached. */
export type CallState = "running" | "waiting" | "ok" | "failed" | "refused" | "unknown";

/** Returns the state of a tool call. */
export function stateOf({ outcome, isRunning, isAsked }: ToolCall): CallState {
  if (isAsked) return "waiting";
  return isRunning ? "running" : outcomeGroupOf(outcome);
}

/** Props of every tool component. `id` is that of its block and identifies its open state. */
export type ToolProps = { call: ToolCall; id?: string; question?: ComponentChildren };

/** The properties of `Card`. */
export type CardProps = ToolProps & {
  /** The content of the card while it is open. */
  children?: ComponentChildren;
  /** A preview that is shown while the card is closed. */
  peek?: ComponentChildren;
  opensByItself?: boolean;
  /** Replaces the default description of the call. */
  words?: Partial<CallWords>;
  outcome?: ComponentChildren;
  isStruck?: boolean;
  /** Whether the body already shows why the call failed. */
  showsReason?: boolean;
};

/** The frame around a call: its name, its state, and what it did. */
export function Card({ call, id, question, children, peek, opensByItself, outcome, isStruck, ...rest }: CardProps) {
  const { isStatic } = useView();
  const state = stateOf(call);
  const words = { ...wordsOfCall(call.tool, call.args, call.outcome?.value), ...rest.words };
  const why = (state === "failed" || state === "refused") && !rest.showsReason ? errorTextOf(call.outcome) : undefined;
  // McpTool shows the pictures in its own result.
  const pictures = call.pictures && call.tool !== "mcp" ? <Pictures pictures={call.pictures} /> : undefined;
  const [isOpen, setOpen] = useOpen(id ?? call.callId, opensByItself === true || pictures !== undefined);
  const hasBody = isFilled(children) || pictures !== undefined;
  const head = <Head call={call} state={state} words={words} outcome={outcome} isStruck={isStruck} />;
  return (
    <div class={`cr-card cr-${state}`} role="group" aria-label={labelOf(words, state)}>
      {hasBody ? (
        <details open={isOpen}>
          <summary
            onClick={(event) => {
              event.preventDefault();
              setOpen(!isOpen);
            }}
          >
            {head}
          </summary>
          {(isOpen || isStatic) && (
            <div class="cr-body">
              {children}
              {pictures}
            </div>
          )}
        </details>
      ) : (
        <div class="cr-head">{head}</div>
      )}
      {isFilled(peek) && (!hasBody || !isOpen || isStatic) && <div class="cr-peek">{peek}</div>}
      {why !== undefined && <Reason text={why} isRefused={state === "refused"} />}
      {question}
    </div>
  );
}

function isFilled(children: ComponentChildren): boolean {
  return Array.isArray(children)
    ? children.some(isFilled)
    : children !== undefined && children !== null && children !== false && children !== "";
}

const stateWords: Record<CallState, string> = {
  running: "running",
  waiting: "wants permission",
  ok: "",
  failed: "failed",
  refused: "refused",
  unknown: "no result",
};

function labelOf({ name, target }: CallWords, state: CallState): string {
  return documentText([name, target.slice(0, 80), stateWords[state]].filter(Boolean).join(" "));
}

type HeadProps = Pick<CardProps, "call" | "outcome" | "isStruck"> & { state: CallState; words: CallWords };

function Head({ call, state, words, outcome, isStruck }: HeadProps) {
  const short = usePath();
  const where = short(words.where);
  const place = words.by !== "" ? `by ${words.by}` : where === "" || where === "." ? "" : `in ${where}`;
  const Target = isStruck && state === "ok" ? "s" : "span";
  return (
    <>
      <b class="cr-name">{documentText(words.name)}</b>
      <Target class="cr-target">
        <MiddleCut text={documentText(short(words.target))} />
      </Target>
      {place !== "" && <span class="cr-place">{documentText(place)}</span>}
      <span class="cr-outcome">
        <Outcome call={call} state={state} words={words} outcome={outcome} />
      </span>
    </>
  );
}

/** Cuts long text in the middle: a path is recognized by its end, a command by its beginning. */
function MiddleCut({ text }: { text: string }) {
  const end = text.length > 24 ? Math.max(text.length - 18, text.lastIndexOf("/")) : text.length;
  return (
    <>
      <span>{text.slice(0, end)}</span>
      {end < text.length && <span>{text.slice(end)}</span>}
    </>
  );
}

const signs: Partial<Record<CallState, string>> = { failed: "✗", refused: "!" };

function Outcome({ call, state, words, outcome }: Omit<HeadProps, "isStruck">) {
  const { startedAt, endedAt } = call;
  const time = startedAt !== undefined && endedAt !== undefined ? endedAt - startedAt : undefined;
  const isTimed = time !== undefined && state !== "refused" && (words.isTimed || time >= 1000);
  const outcomeText = state === "ok" ? (outcome ?? words.outcome) : stateText(call, state);
  return (
    <>
      {signs[state] && (
        <span class="cr-sign" aria-hidden="true">
          {signs[state]}
        </span>
      )}
      {isFilled(outcomeText) && <span class="cr-said">{outcomeText}</span>}
      {state === "running" && <Elapsed since={startedAt} />}
      {isTimed && <span class="cr-time">{duration(time)}</span>}
    </>
  );
}

function stateText({ outcome, tool }: ToolCall, state: CallState): string {
  const { exitCode } = fieldsOf(outcome?.value);
  if (state === "waiting" && tool === "createPlan") return "wants approval";
  if (state === "waiting" && tool === "askQuestion") return "asks";
  return state === "failed" && typeof exitCode === "number" && exitCode !== 0 ? `exit ${exitCode}` : stateWords[state];
}

/** Shows the elapsed time, updated once a second. */
function Elapsed({ since }: { since: number | undefined }) {
  const { isPast } = useView();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (isPast) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isPast]);
  return since === undefined || isPast ? null : <span class="cr-time">{runningFor(now - since)}</span>;
}
