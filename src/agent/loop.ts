// runTurn: from a prompt to an answer, as a stream of events. It always ends in exactly one `done` or `fail`.

import { costOf } from "../model/prices.ts";
import { ModelError, type ModelFacts } from "../model/provider.ts";
import { isBlankText } from "../protocol/blank.ts";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import type { AgentEvent, Denial, Usage } from "../protocol/event.ts";
import { type Message, type Part, textOf } from "../protocol/message.ts";
import { type Agent, addUsage, noUsage } from "./agent.ts";
import {
  type CallEnd,
  callTool,
  conflict,
  type PreparedCall,
  prepareCall,
  repeatedCall,
  type ToolCallPart,
} from "./call-tool.ts";
import { compact, estimateTokens } from "./compact.ts";
import { merge } from "./merge.ts";
import { type CallIds, countRepeats, newCallIds, type RepeatCounter, withUniqueCalls } from "./repeats.ts";

export type Prompt = {
  /** What the user typed: shown and stored. */
  text: string;
  /** What the model is told: the same with mentions expanded, images attached. */
  parts: Part[];
  requestId: string;
};

/** Thrown inside a turn to end it with a code that says why. */
class TurnError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

type Turn = {
  agent: Agent;
  prompt: Prompt;
  signal: AbortSignal;
  replies: number;
  apiMs: number;
  usage: Usage;
  denials: Denial[];
  repeats: RepeatCounter;
  ids: CallIds;
  /** Of the model that answers now. */
  facts: ModelFacts;
};

export async function* runTurn(agent: Agent, prompt: Prompt, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const startedAt = Date.now();
  const turn: Turn = {
    agent,
    prompt,
    signal,
    replies: 0,
    apiMs: 0,
    usage: noUsage,
    denials: [],
    repeats: countRepeats(),
    ids: newCallIds(),
    facts: agent.model,
  };
  let answer = "";
  let failure: unknown;
  try {
    yield { type: "user", text: prompt.text };
    agent.session.append({ role: "user", parts: prompt.parts });
    while (true) {
      const { reply, modelCallId } = yield* nextReply(turn);
      answer += textOf(reply);
      const calls = callsOf(reply);
      if (calls.length === 0) break;
      yield* runCalls(turn, calls, modelCallId);
      checkLimits(turn);
    }
  } catch (error) {
    failure = error;
  }
  const ending = {
    durationMs: Date.now() - startedAt,
    apiDurationMs: Math.round(Math.min(turn.apiMs, Date.now() - startedAt)),
    requestId: prompt.requestId,
    usage: turn.usage,
    ...(turn.denials.length > 0 && { denials: turn.denials }),
  };
  if (failure === undefined) yield { type: "done", text: answer, ...ending };
  else yield { type: "fail", ...explain(failure, signal), ...ending };
}

/** One answer of the model, appended to the session. A conversation that is too long is shortened once. */
async function* nextReply(turn: Turn): AsyncGenerator<AgentEvent, { reply: Message; modelCallId: string }> {
  const { agent, signal } = turn;
  signal.throwIfAborted();
  if (turn.replies >= agent.limits.maxTurns) {
    throw new TurnError(
      "MAX_TURNS",
      `The run reached its limit of ${agent.limits.maxTurns} turns. Raise it with --max-turns, or resume with a narrower request.`,
    );
  }
  // Room is left for the answer, the system prompt and the tools.
  const room = Math.floor(turn.facts.contextTokens * 0.8);
  if (estimateTokens(agent.session.messages) > room) yield shortened(agent, room);

  const modelCallId = `${turn.prompt.requestId}-${turn.replies}-${randomLetters()}`;
  turn.replies++;
  let reply: Message;
  try {
    reply = yield* streamReply(turn, modelCallId);
  } catch (error) {
    if (!(error instanceof ModelError) || error.code !== "MODEL_OVERFLOW") throw error;
    yield shortened(agent, Math.floor(estimateTokens(agent.session.messages) / 2));
    reply = yield* streamReply(turn, modelCallId);
  }
  agent.session.append(reply);
  return { reply, modelCallId };
}

function shortened(agent: Agent, tokens: number): AgentEvent {
  agent.session.replace(compact(agent.session.messages, tokens));
  const message = "The conversation no longer fitted the model: older parts were cut.";
  return { type: "notice", kind: "compacted", message, at: Date.now() };
}

/** Deltas out, the finished message back. */
async function* streamReply(turn: Turn, modelCallId: string): AsyncGenerator<AgentEvent, Message> {
  const { agent } = turn;
  const request = {
    model: agent.model.id,
    system: agent.system,
    messages: agent.session.messages,
    tools: agent.tools,
    signal: turn.signal,
    ...(agent.model.effort && { effort: agent.model.effort }),
  };
  let parts: Part[] = [];
  let shown = "";
  let thinking = false;
  const asked = performance.now();
  try {
    for await (const chunk of agent.provider.stream(request)) {
      if (thinking && chunk.type !== "thinking" && chunk.type !== "usage") {
        thinking = false;
        yield { type: "thinking_end", at: Date.now() };
      }
      switch (chunk.type) {
        case "thinking":
          thinking = true;
          yield { type: "thinking", text: chunk.text, at: Date.now() };
          break;
        case "text":
          shown += chunk.text;
          yield { type: "text", text: chunk.text, at: Date.now() };
          break;
        case "part":
          parts.push(chunk.part);
          break;
        case "usage":
          turn.usage = addUsage(turn.usage, chunk.usage);
          break;
        case "retry":
          yield {
            type: "retry",
            attempt: chunk.attempt,
            discards: shown !== "",
            reason: chunk.reason,
            delayMs: chunk.delayMs,
            at: Date.now(),
          };
          parts = [];
          shown = "";
          break;
        case "model":
          if (chunk.facts) turn.facts = chunk.facts;
          yield {
            type: "notice",
            kind: "model_change",
            message: chunk.reason,
            fields: { model: chunk.model },
            at: Date.now(),
          };
          break;
      }
    }
  } finally {
    turn.apiMs += performance.now() - asked;
  }
  if (thinking) yield { type: "thinking_end", at: Date.now() };
  turn.signal.throwIfAborted();

  const reply: Message = {
    role: "assistant",
    parts: withUniqueCalls(parts, turn.ids, modelCallId),
    provider: agent.provider.id,
  };
  const text = textOf(reply);
  const hasCalls = callsOf(reply).length > 0;
  if (isBlankText(text) && !hasCalls) {
    throw new TurnError(
      "MODEL_EMPTY",
      `${agent.model.displayName} answered with nothing. Try again, or choose another model with --model.`,
    );
  }
  if (text !== "") yield { type: "text_end", text, ...(hasCalls && { modelCallId }) };
  return reply;
}

/** Runs the calls of one reply: side by side where they cannot conflict, else in the order they were made. */
async function* runCalls(turn: Turn, calls: ToolCallPart[], modelCallId: string): AsyncGenerator<AgentEvent> {
  const { agent, signal } = turn;
  const ends: CallEnd[] = [];
  const prepared = (await Promise.all(calls.map((call) => prepareCall(agent, call)))).map((ready) => {
    // Looking twice does no harm, and waiting for something is looking again and again.
    return turn.ids.repeated.has(ready.call.id) && changesSomething(ready) ? repeatedCall(ready.call) : ready;
  });
  for (const batch of batches(prepared)) {
    ends.push(...(yield* merge(batch.map((call) => callTool(agent, call, { modelCallId, signal })))));
  }
  const results = ends.map((end) => end.result);
  for (const { denial } of ends) if (denial) turn.denials.push(denial);
  turn.repeats.add(
    calls,
    results.map((result) => result.text),
  );
  agent.session.append({ role: "user", parts: [...results, ...newInstructions(agent, prepared)] });
}

function changesSomething({ prepared }: PreparedCall): boolean {
  return prepared?.needs.some((need) => need.kind !== "Read") ?? false;
}

function batches(calls: PreparedCall[]): PreparedCall[][] {
  const done: PreparedCall[][] = [];
  for (const call of calls) {
    const last = done.at(-1);
    if (last && !last.some((other) => conflict(other, call))) last.push(call);
    else done.push([call]);
  }
  return done;
}

/** Rules that belong to the files just touched, told once, beside the results. */
function newInstructions(agent: Agent, calls: readonly PreparedCall[]): Part[] {
  if (!agent.instructionsFor) return [];
  const parts: Part[] = [];
  for (const { prepared } of calls) {
    const path = prepared?.wireArgs["path"];
    const text = typeof path === "string" ? agent.instructionsFor(path) : undefined;
    if (text) parts.push({ type: "text", text });
  }
  return parts;
}

function checkLimits(turn: Turn): void {
  const { limits } = turn.agent;
  turn.signal.throwIfAborted();
  if (turn.repeats.count >= limits.loopLimit) {
    throw new TurnError(
      "LOOP_DETECTED",
      `The model made the same calls with the same results ${turn.repeats.count} times in a row. Give it more to go on, or choose another model with --model.`,
    );
  }
  if (limits.maxCost === undefined || !turn.facts.price) return;
  const cost = costOf(turn.usage, turn.facts.price);
  if (cost >= limits.maxCost) {
    throw new TurnError(
      "MAX_COST",
      `The run has cost $${cost.toFixed(4)}, its limit is $${limits.maxCost}. Raise it with --max-cost.`,
    );
  }
}

function explain(error: unknown, signal: AbortSignal): { message: string; code: ErrorCode } {
  // Whatever broke because of the abort, the abort is the reason.
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (reason instanceof UserError) return { message: reason.message, code: reason.code };
    return { message: "The run was cancelled.", code: "INTERRUPTED" };
  }
  if (error instanceof ModelError || error instanceof UserError || error instanceof TurnError) {
    return { message: error.message, code: error.code };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `Unexpected failure, please report it: ${message}`, code: "INTERNAL" };
}

function callsOf(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool_call");
}

function randomLetters(): string {
  return Math.random().toString(36).slice(2, 6).padEnd(4, "0");
}
