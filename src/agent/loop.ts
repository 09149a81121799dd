// runTurn: runs a turn from prompt to answer as a stream of events. It always ends in exactly one `done` or `fail`.
import { setMaxListeners } from "node:events";
import { ModelError } from "../model/provider.ts";
import { milliseconds } from "../process/clock.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { type Message, messageText, type Part, type ToolCallPart } from "../protocol/message.ts";
import { contextTokens } from "../protocol/usage.ts";
import { isBlankText } from "../text/blank.ts";
import { type Agent, modelChange } from "./agent.ts";
import { type CallEnd, callTool } from "./call-tool.ts";
import { measureConversation, noteTokens } from "./compact/measure.ts";
import { shorten, tooLong } from "./compact/shorten.ts";
import { countRepeats, newCallIds, repeatWarning, withUniqueCalls } from "./loop-detection.ts";
import { atOnce, eventLoop, firstEvent, maxAtOnce, merge } from "./merge.ts";
import { batches, notRunResult, type PreparedCall, prepareCall, repeatedCall, withinLimit } from "./prepare-call.ts";
import type { EndedSubagent } from "./subagents/index.ts";
import { explain, type Turn, TurnError, type TurnPrompt } from "./turn.ts";
import { UsageBudget } from "./usage-budget.ts";

export async function* runTurn(agent: Agent, prompt: TurnPrompt, outer: AbortSignal): AsyncGenerator<AgentEvent> {
  const startedAt = agent.seams.now();
  const spending = new UsageBudget(agent.spending);
  const signal = agent.limits.maxCost === undefined ? outer : AbortSignal.any([outer, spending.whole.overspent.signal]);
  setMaxListeners(0, signal); // each tool call adds a listener to the signal, and a reply may contain many calls
  const turn: Turn = {
    agent,
    prompt,
    signal,
    replies: 0,
    apiMs: 0,
    spending,
    context: 0,
    denials: [],
    repeats: countRepeats(),
    ids: newCallIds(),
    modelInfo: agent.model,
    repairs: agent.answer?.repairs ?? 0,
    shortest: 0,
    isReminded: false,
  };
  let answer = "";
  let failure: unknown;
  try {
    yield { type: "user", text: prompt.text };
    agent.session.append({ role: "user", parts: [...prompt.parts, ...(await runPromptHooks(turn, prompt))] });
    while (true) {
      const { reply, modelCallId } = yield* nextReply(turn);
      answer += messageText(reply);
      await agent.hooks?.afterReply(reply, signal);
      const calls = callsOf(reply);
      if (calls.length > 0) {
        checkCost(turn);
        yield* runCalls(turn, calls, modelCallId, messageText(reply));
      }
      const isSteered = yield* takeSteering(turn);
      turn.isReminded = false;
      if (calls.length === 0 && !isSteered && !(yield* awaitSubagents(turn)) && !(yield* remind(turn))) {
        // A stop hook may return a follow-up prompt, which is treated like the user's, within the same limits.
        const followup = checkAnswer(turn, messageText(reply)) ?? (await agent.hooks?.stop("completed", signal));
        if (followup === undefined) break;
        yield { type: "user", text: followup };
        agent.session.append({ role: "user", parts: [{ type: "text", text: followup }] });
      }
      checkLimits(turn);
    }
  } catch (error) {
    // A task that was already done stays done, even if the answer to a reminder fails.
    const isDone = turn.isReminded && !signal.aborted && (error instanceof ModelError || error instanceof TurnError);
    if (!isDone) failure = error;
    await agent.subagents?.end();
    const wasBlocked = error instanceof TurnError && error.code === "PROMPT_BLOCKED";
    if (!wasBlocked) await agent.hooks?.stop(isDone ? "completed" : outer.aborted ? "aborted" : "error", signal);
  }
  const ending = {
    durationMs: agent.seams.now() - startedAt,
    apiDurationMs: Math.round(Math.min(turn.apiMs, agent.seams.now() - startedAt)),
    requestId: prompt.requestId,
    usage: turn.spending.total(turn.modelInfo.price),
    ...(turn.context > 0 && { context: { used: turn.context, window: turn.modelInfo.contextTokens } }),
    ...(turn.denials.length > 0 && { denials: turn.denials }),
  };
  const structured = turn.structured === undefined ? {} : { structured: turn.structured };
  if (failure === undefined) yield { type: "done", text: answer, ...structured, ...ending };
  else yield { type: "fail", ...explain(failure, signal), ...ending };
}

/** Returns what hooks add to the prompt. Throws when a hook blocks it. */
async function runPromptHooks({ agent, signal }: Turn, prompt: TurnPrompt): Promise<Part[]> {
  const hookAnswer = await agent.hooks?.beforePrompt({ attachments: [], ...prompt }, signal);
  if (hookAnswer) signal.throwIfAborted(); // a hook that was stopped has not approved anything
  if (hookAnswer?.refusal !== undefined) throw new TurnError("PROMPT_BLOCKED", hookAnswer.refusal);
  return (hookAnswer?.context ?? []).map((text) => ({ type: "text", text }));
}

/** Appends prompts that were sent while the turn ran. A prompt that a hook blocks is left out with a notice. */
async function* takeSteering(turn: Turn): AsyncGenerator<AgentEvent, boolean> {
  const { agent, signal } = turn;
  // When the turn is interrupted, leave waiting prompts for the next turn.
  if (signal.aborted) return false;
  const prompts = (await agent.control?.takeSteered(signal)) ?? [];
  let isHeard = false;
  for (const prompt of prompts) {
    yield { type: "user", text: prompt.text };
    try {
      agent.session.append({ role: "user", parts: [...prompt.parts, ...(await runPromptHooks(turn, prompt))] });
      isHeard = true;
    } catch (error) {
      if (!(error instanceof TurnError)) throw error;
      yield { type: "notice", kind: "prompt_blocked", message: error.message, at: agent.seams.now() };
    }
  }
  return isHeard;
}

/** Returns a request to repair an answer that does not fit. Throws when no repairs are left. */
function checkAnswer(turn: Turn, text: string): string | undefined {
  const checked = turn.agent.answer?.check(text);
  if (!checked) return undefined;
  if ("value" in checked) {
    turn.structured = checked.value;
    return undefined;
  }
  if (turn.repairs-- === 0) {
    throw new TurnError(
      "OUTPUT_SCHEMA",
      `The answer does not fit the JSON Schema: ${checked.fault}. Make the schema simpler, or choose another model with --model.`,
    );
  }
  return `Your answer does not fit the JSON Schema: ${checked.fault}. Give the whole answer again, as JSON alone.`;
}

/** Gets one reply of the model and adds it to the session. On a context overflow it compacts the conversation once. */
async function* nextReply(turn: Turn): AsyncGenerator<AgentEvent, { reply: Message; modelCallId: string }> {
  const { agent, signal } = turn;
  checkCost(turn); // an earlier turn may have spent everything
  signal.throwIfAborted();
  checkReplies(turn);
  const before = agent.model;
  yield* agent.control?.settle() ?? [];
  if (agent.model !== before) turn.modelInfo = agent.model;
  // Leave room for the answer, the system prompt and the tools.
  const room = Math.floor(turn.modelInfo.contextTokens * 0.8);
  const { tokens, estimate, roomIn } = measureConversation(agent.session);
  if (agent.control?.takeCompact()) yield* shorten(turn, Math.floor(estimate / 2), { trigger: "manual" });
  else if (tokens > room && estimate > turn.shortest * 1.2) yield* shorten(turn, roomIn(room));

  const modelCallId = `${turn.prompt.requestId}-${turn.replies}-${agent.seams.newId().slice(0, 4)}`;
  turn.replies++;
  turn.spending.countReply();
  let reply: Message;
  try {
    reply = yield* streamReply(turn, modelCallId);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    yield* shorten(turn, Math.floor(measureConversation(agent.session).estimate / 2));
    try {
      reply = yield* streamReply(turn, modelCallId);
    } catch (again) {
      throw isOverflow(again) ? tooLong(agent, again.message) : again;
    }
  }
  return { reply, modelCallId };
}

function isOverflow(error: unknown): error is ModelError {
  return error instanceof ModelError && error.code === "MODEL_OVERFLOW";
}

/** Yields deltas as they stream, then appends the finished message to the session and returns it. */
async function* streamReply(turn: Turn, modelCallId: string): AsyncGenerator<AgentEvent, Message> {
  const { agent } = turn;
  const request = {
    model: agent.model.id,
    system: agent.system,
    messages: agent.session.messages,
    tools: agent.tools.filter(({ name }) => !agent.hiddenTools?.has(name)),
    signal: turn.signal,
    agent: agent.toolContext.sessionId,
    ...(agent.model.effort && { effort: agent.model.effort }),
  };
  let parts: Part[] = [];
  let shown = "";
  let thought = "";
  let counted = 0;
  const endThought = (): AgentEvent => {
    const text = thought;
    thought = "";
    return { type: "thinking_end", text, at: agent.seams.now() };
  };
  const asked = milliseconds();
  try {
    for await (const chunk of agent.provider.stream(request)) {
      if (thought !== "" && chunk.type !== "thinking" && chunk.type !== "usage") yield endThought();
      switch (chunk.type) {
        case "thinking":
          thought += chunk.text;
          yield { type: "thinking", text: chunk.text, at: agent.seams.now() };
          break;
        case "text":
          shown += chunk.text;
          yield { type: "text", text: chunk.text, at: agent.seams.now() };
          break;
        case "part":
          parts.push(chunk.part);
          break;
        case "usage":
          turn.spending.add(chunk.usage, turn.modelInfo.price);
          counted = turn.context = contextTokens(chunk.usage);
          break;
        case "retry": {
          const { attempt, reason, delayMs } = chunk;
          yield { type: "retry", attempt, discards: shown !== "", reason, delayMs, at: agent.seams.now() };
          parts = [];
          shown = "";
          break;
        }
        case "notice":
          yield { ...chunk, at: agent.seams.now() };
          break;
        case "model":
          if (chunk.info) turn.modelInfo = chunk.info;
          yield modelChange(chunk, agent.seams.now());
          break;
      }
    }
    if (thought !== "") yield endThought();
    turn.signal.throwIfAborted();
  } catch (error) {
    // Thinking that was already shown stays visible.
    if (thought !== "") yield { ...endThought(), cut: true } as AgentEvent;
    if (shown !== "") yield { type: "text_end", text: shown, cut: true };
    throw error;
  } finally {
    turn.apiMs += milliseconds() - asked;
  }

  const reply: Message = {
    role: "assistant",
    parts: withUniqueCalls(parts, turn.ids, modelCallId),
    provider: agent.provider.id,
  };
  const text = messageText(reply);
  const hasCalls = callsOf(reply).length > 0;
  if (isBlankText(text) && !hasCalls) {
    throw new TurnError(
      "MODEL_EMPTY",
      `${agent.model.displayName} returned an empty answer. Try again, or choose another model with --model.`,
    );
  }
  // Append the reply before it is shown: after a crash, the session contains everything that was shown.
  agent.session.append(reply);
  if (counted > 0) noteTokens(agent.session, counted, request);
  if (text !== "") yield { type: "text_end", text, ...(hasCalls && { modelCallId, at: agent.seams.now() }) };
  return reply;
}

/** Runs the calls of one reply: in parallel where they cannot conflict, else in the order they were made. */
async function* runCalls(
  turn: Turn,
  calls: ToolCallPart[],
  modelCallId: string,
  said: string,
): AsyncGenerator<AgentEvent> {
  const { agent, signal } = turn;
  const ends: CallEnd[] = [];
  const prepared: PreparedCall[] = [];
  const { taken, surplus, notice } = withinLimit(calls);
  for (const call of taken) {
    if (prepared.length % 16 === 15) await eventLoop();
    const ready = await prepareCall(agent, call);
    // Allow repeated calls that only read: they do no harm, and polling needs them.
    const isRepeated = turn.ids.repeated.has(call.id) && changesSomething(ready);
    prepared.push(isRepeated ? repeatedCall(call) : ready);
  }
  const context = { modelCallId, signal, said, spending: turn.spending };
  const running = (await batches(prepared)).flatMap((batch) => {
    const ready = batch.map((call) => {
      const isParallel = batch.some((other) => other !== call && other.prepared?.tool === call.prepared?.tool);
      return { call: call.call, events: callTool(agent, call, { ...context, isParallel }) };
    });
    return atOnce(ready);
  });
  // Like `cursor-agent`, all calls of a reply start together, and each waits for those it conflicts with. In a flood, each starts when its
  // turn comes, so that a stop need not write an end for all of them.
  const isFlood = calls.length > 2 * maxAtOnce;
  if (!isFlood) for (const { events } of running.flat()) yield* firstEvent(events);
  for (const [index, group] of running.entries()) {
    if (index > 0) await eventLoop();
    if (isFlood && signal.aborted) ends.push(...group.map(({ call }) => ({ result: notRunResult(call), context: [] })));
    else ends.push(...(yield* merge(group.map(({ events }) => events))));
  }
  if (notice !== undefined) yield { type: "notice", kind: "too_many_calls", message: notice, at: agent.seams.now() };
  const results = [...ends.map((end) => end.result), ...surplus];
  for (const { denial, denialsBelow = [] } of ends) turn.denials.push(...(denial ? [denial] : denialsBelow));
  turn.repeats.add(
    calls,
    results.map((result) => result.text),
  );
  const isRepeated = turn.repeats.count === Math.max(2, agent.limits.loopLimit - 2);
  const warnings = isRepeated ? [repeatWarning(turn.repeats.count)] : [];
  const extraParts = [...ends.flatMap((end) => end.context), ...warnings].map((text): Part => ({ type: "text", text }));
  const news = [
    ...(yield* reportEndedSubagents(turn, agent.subagents?.takeEnded())),
    ...(yield* reportLateErrors(turn)),
  ];
  agent.session.append({
    role: "user",
    parts: [...results, ...extraParts, ...newInstructions(agent, prepared), ...news],
  });
}

/** Waits for background subagents before the run ends. Returns true when the model has their answers to read. */
async function* awaitSubagents(turn: Turn): AsyncGenerator<AgentEvent, boolean> {
  const { subagents, session } = turn.agent;
  const news = yield* reportEndedSubagents(turn, await subagents?.waitForAll(turn.signal));
  if (news.length > 0) session.append({ role: "user", parts: news });
  return news.length > 0;
}

/** Returns true when the model was reminded of unfinished work: errors in its edits or commands that still run. */
async function* remind(turn: Turn): AsyncGenerator<AgentEvent, boolean> {
  const late = yield* reportLateErrors(turn, lateErrorsMs);
  const text = late.length > 0 ? undefined : await turn.agent.unfinished?.(turn.signal);
  const parts: Part[] = text === undefined ? late : [{ type: "text", text }];
  if (parts.length === 0) return false;
  turn.agent.session.append({ role: "user", parts });
  turn.isReminded = true;
  return true;
}

/** How many milliseconds the end of a turn waits for language servers that still check its edits. */
const lateErrorsMs = 2000;

/** Reports language-server findings that came after the results of the edits. */
async function* reportLateErrors({ agent, signal }: Turn, waitMs = 0): AsyncGenerator<AgentEvent, Part[]> {
  const found = signal.aborted ? "" : await agent.diagnostics?.takeLate(agent.toolContext.sessionId, waitMs);
  if (!found) return [];
  const text = `Found after earlier edits: ${found}`;
  yield { type: "notice", kind: "diagnostics", message: text, at: agent.seams.now() };
  return [{ type: "text", text }];
}

/** Reports ended background subagents to the stream, the list of refusals and the model. */
async function* reportEndedSubagents(
  { denials: all }: Turn,
  ended: EndedSubagent[] = [],
): AsyncGenerator<AgentEvent, Part[]> {
  for (const { notice, denials } of ended) {
    yield notice;
    all.push(...denials);
  }
  return ended.map(({ text }) => ({ type: "text", text }));
}

function changesSomething({ prepared }: PreparedCall): boolean {
  return prepared?.tool.once ?? prepared?.needs.some((need) => need.kind !== "Read") ?? false;
}

/** Returns rules that apply to the files just touched; each is sent once, next to the results. */
function newInstructions(agent: Agent, calls: readonly PreparedCall[]): Part[] {
  return calls.flatMap(({ prepared }): Part[] => {
    const path = prepared?.wireArgs["path"];
    const text = typeof path === "string" ? agent.instructionsFor?.(path) : undefined;
    return text ? [{ type: "text", text }] : [];
  });
}

function checkReplies({ agent: { limits }, replies, spending }: Turn): void {
  const run = limits.maxTurns ?? Number.POSITIVE_INFINITY;
  if (spending.whole.replies < run && replies < limits.maxTurnsPerPrompt) return;
  const most = Math.min(run, limits.maxTurnsPerPrompt);
  throw new TurnError(
    "MAX_TURNS",
    `The run reached its limit of ${most} turns. Raise it with --max-turns, or resume with a narrower request.`,
  );
}

/** Aborts the whole run, including its subagents, when the cost limit is reached. */
function checkCost({ agent: { limits }, spending: { whole } }: Turn): void {
  if (limits.maxCost === undefined || whole.cost < limits.maxCost) return;
  const message = `The run has cost $${whole.cost.toFixed(4)}, its limit is $${limits.maxCost}. Raise it with --max-cost.`;
  whole.overspent.abort(new TurnError("MAX_COST", message));
}

function checkLimits(turn: Turn): void {
  const { limits } = turn.agent;
  checkCost(turn);
  turn.signal.throwIfAborted();
  if (turn.repeats.count >= limits.loopLimit) {
    throw new TurnError(
      "LOOP_DETECTED",
      `The model made the same calls with the same results ${turn.repeats.count} times in a row. Give it more to go on, or choose another model with --model.`,
    );
  }
}

function callsOf(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool_call");
}
