// Runs one tool call: prepare, ask hooks, decide, ask the user, run, notify hooks. A call that started always gets its end event.

import { isObject } from "../json/object.ts";
import { orAborted } from "../net/or-aborted.ts";
import { type Decision, onlyLooks } from "../policy/need.ts";
import type { AgentEvent, Denial, Outcome } from "../protocol/event.ts";
import { mcpWireArgs } from "../protocol/mcp-wire.ts";
import type { ToolCallPart, ToolResultPart } from "../protocol/message.ts";
import { unknownWireName } from "../protocol/tool-calls.ts";
import { NotRun, unlessStopped } from "../protocol/unless-stopped.ts";
import type { Agent, Question } from "./agent.ts";
import type { BeforeCall, HookedCall } from "./hooks/call-hooks.ts";
import { LiveOutput } from "./live-output.ts";
import { errorMessage, type Prepared, type PreparedCall, prepareCall, unexpectedFailure } from "./prepare-call.ts";
import { previewOf } from "./preview.ts";
import { findTool } from "./tools/index.ts";
import { failure, type Tool, ToolFailure, type ToolResult, type TurnContext } from "./tools/tool.ts";
import { UsageBudget } from "./usage-budget.ts";

/** How a tool call ended. `context` is text from hooks that the model receives with the result. */
export type CallEnd = {
  result: ToolResultPart;
  denial?: Denial;
  /** Calls of this call's subagents that were refused. */
  denialsBelow?: readonly Denial[];
  context: string[];
};

export async function* callTool(
  agent: Agent,
  { call, prepared: given, failure: wrong }: PreparedCall,
  context: { modelCallId: string } & Omit<CallContext, "callId" | "context">,
): AsyncGenerator<AgentEvent, CallEnd> {
  const startedAt = agent.seams.now();
  const known = given?.tool ?? findTool(agent.tools, call.name);
  const tool = known?.wire ?? unknownWireName(call.name);
  const args = given?.wireArgs ?? wrongArgs(call, known);
  const frame = { callId: call.id, tool, args, modelCallId: context.modelCallId, startedAt };
  yield { type: "tool_start", ...frame, ...describedBy(tool, args), at: startedAt };

  const place: CallContext = { ...context, callId: call.id, context: [] };
  let ranAt = startedAt;
  let end: ToolResult;
  let denial: Denial | undefined;
  // Hooks may change the input: the last version is what runs and what the end event shows.
  let prepared = given;
  let isHeard = false;
  try {
    if (!given) throw wrong!;
    unlessStopped(context.signal, () => {
      isHeard = true; // hooks that saw the call start must also see it end
    });
    const hooksAnswer = yield* askHooks(agent, call, given, place);
    prepared = hooksAnswer.prepared;
    const permission = yield* permit(agent, hooksAnswer, place);
    if ("refusal" in permission) {
      // When the turn is stopped before the call is judged, the call was neither allowed nor refused.
      if (context.signal.aborted) throw new NotRun();
      const { refusal: reason, rule } = permission;
      const where = rule && { rule: rule.text, file: rule.source };
      denial = { tool: prepared.tool.name, callId: call.id, reason, ...where };
      throw rejection(prepared, reason);
    }
    ranAt = agent.seams.now();
    end = yield* runCall(agent, prepared, permission, place);
    // A tool can find out only while it runs that it is refused, for example when a page redirects to a forbidden host.
    if (end.outcome.kind === "rejected")
      denial = { tool: prepared.tool.name, callId: call.id, reason: outcomeReason(end.outcome) };
  } catch (error) {
    if (!(error instanceof ToolFailure || error instanceof NotRun)) throw error;
    end = errorResult(call.name, error);
  }

  const completedAt = agent.seams.now();
  if (prepared && isHeard && agent.hooks) {
    const outcome = { result: end, refused: denial !== undefined, durationMs: completedAt - ranAt };
    const after = await agent.hooks.afterCall(toHookedCall(prepared, place), outcome, context.signal);
    place.context.push(...after.context);
    end = after.result ?? end;
  }
  const last = prepared?.wireArgs ?? args;
  yield {
    type: "tool_end",
    ...frame,
    args: last,
    ...describedBy(tool, last),
    outcome: end.outcome,
    ...(ranAt > startedAt && { ranAt }),
    completedAt,
    at: completedAt,
  };
  const result: ToolResultPart = {
    type: "tool_result",
    id: call.id,
    text: end.text,
    isError: end.outcome.kind !== "success",
    ...(end.images && { images: end.images }),
  };
  const denials = { ...(denial && { denial }), ...(end.denials && { denialsBelow: end.denials }) };
  return { result, ...denials, context: place.context };
}

/** Returns the description of a shell command, which its events contain next to the arguments as well. */
function describedBy(tool: string, { description }: Record<string, unknown>): { description?: string } {
  return tool === "shell" && typeof description === "string" ? { description } : {};
}

/** Returns arguments that the tool could not parse, as the model sent them. For an MCP tool they still name the server and tool. */
function wrongArgs({ id, args }: ToolCallPart, tool: Tool | undefined): Record<string, unknown> {
  const sent = isObject(args) ? args : { input: args };
  return tool?.mcp ? { ...mcpWireArgs({ ...tool.mcp, args: sent, callId: id }) } : sent;
}

/** The state of one call. `said` is the model's text before the call; `context` collects text from hooks for it. */
type CallContext = {
  callId: string;
  signal: AbortSignal;
  said?: string | undefined;
  spending?: UsageBudget;
  isParallel?: boolean;
  context: string[];
};

/** A tool call after the `preToolUse` hooks have run, with their answer. */
type HookVerdict = { prepared: Prepared; hookReply?: BeforeCall };

/**
 * Asks the hooks. Input that a hook changed is parsed by the tool again, shown to the other hooks, which may refuse it but not change it
 * again, and then judged by the rules like any other. Throws ToolFailure.
 */
async function* askHooks(
  agent: Agent,
  call: ToolCallPart,
  prepared: Prepared,
  context: CallContext,
): AsyncGenerator<AgentEvent, HookVerdict> {
  if (!agent.hooks) return { prepared };
  const hookReply = yield* hookAnswer(
    agent,
    agent.hooks.beforeCall(toHookedCall(prepared, context), context.signal),
    context,
  );
  if (!hookReply.updatedInput || hookReply.verdict === "deny") return { prepared, hookReply };
  const changed = await prepareCall(agent, { ...call, args: hookReply.updatedInput });
  const { prepared: last } = changed;
  if (!last) throw changed.failure!;
  if (!hookReply.isUnseen) return { prepared: last, hookReply };
  const again = yield* hookAnswer(agent, agent.hooks.beforeCall(toHookedCall(last, context), context.signal), context);
  const verdicts = [hookReply, again];
  const strictest =
    verdicts.find(({ verdict }) => verdict === "deny") ?? verdicts.find(({ verdict }) => verdict === "ask");
  return { prepared: last, hookReply: strictest ?? hookReply };
}

/** Yields the hooks' messages to the user as events, and collects their context for the model. */
async function* hookAnswer(
  agent: Agent,
  answer: Promise<BeforeCall>,
  context: CallContext,
): AsyncGenerator<AgentEvent, BeforeCall> {
  const preToolAnswer = await answer;
  for (const message of preToolAnswer.messages) yield { type: "notice", kind: "hook", message, at: agent.seams.now() };
  context.context.push(...preToolAnswer.context);
  return preToolAnswer;
}

function toHookedCall({ tool, args, wireArgs }: Prepared, { callId, said }: CallContext): HookedCall {
  return { id: callId, tool, args, wireArgs, ...(said !== undefined && { said }) };
}

/** `confined` means that the call may run only inside the sandbox. */
type Permission = Pick<Decision, "approved" | "mayRead" | "confined" | "withNetwork">;

/**
 * Decides, and asks where needed. The strictest of rules and hooks wins: a hook's "allow" overrides no rule, and a hook's "ask" can be
 * answered only by the user, not by the reviewer.
 */
async function* permit(
  agent: Agent,
  { prepared, hookReply }: HookVerdict,
  context: CallContext,
): AsyncGenerator<AgentEvent, Permission | { refusal: string; rule?: Decision["rule"] }> {
  if (hookReply?.verdict === "deny") return { refusal: hookReply.reasons.join(" ") };
  const decision = await decideCall(agent, prepared);
  const { verdict, approved, mayRead } = decision;
  if (verdict === "deny") return { refusal: decision.reasons.join(" "), rule: decision.rule };
  const now = { confined: decision.confined === true, approved, signal: context.signal };
  const own =
    agent.hooks && (yield* hookAnswer(agent, agent.hooks.beforeRun(toHookedCall(prepared, context), now), context));
  if (own?.verdict === "deny") return { refusal: own.reasons.join(" ") };
  const wished = [hookReply, own].flatMap((each) => (each?.verdict === "ask" ? each.reasons : []));
  const unsaved =
    verdict === "allow" && wished.length === 0 ? await unsavedDeletions(agent, prepared, decision, context) : [];
  if (verdict === "allow" && wished.length === 0 && unsaved.length === 0) {
    // Like `cursor-agent`, report web lookups under --force as asked and approved.
    if (decision.forced && /^web/.test(prepared.tool.wire))
      yield* reportQuery(agent, prepared, context, async () => ({}));
    return decision;
  }
  const reasons = [...(verdict === "ask" ? decision.reasons : []), ...wished, ...unsaved];
  const isForPerson = decision.personOnly || wished.length > 0;
  const review = isForPerson ? undefined : await reviewCall(agent, prepared, reasons, context);
  if (review?.allow) {
    const message = `${prepared.tool.name}: ${review.reason}`;
    yield { type: "notice", kind: "auto_review", message, at: agent.seams.now() };
    return { approved, mayRead };
  }
  const open = review ? [...reasons, review.reason] : reasons;
  const { refusal, inSandbox } = yield* reportQuery(agent, prepared, context, () =>
    askPerson(agent, prepared, { reasons: open, ...(decision.personOnly && { personOnly: true }) }, context, decision),
  );
  if (refusal !== undefined) return { refusal };
  return verdict === "allow" ? decision : { approved, mayRead, ...(inSandbox && { confined: true }) };
}

/** Decides whether a call is allowed. If the decision throws, the call is refused. */
async function decideCall(agent: Agent, { needs }: Prepared): Promise<Decision> {
  try {
    return await agent.decide(needs);
  } catch (error) {
    return { verdict: "deny", reasons: [`It could not be judged: ${errorMessage(error).replace(/\.$/, "")}.`] };
  }
}

/** Returns why a delete that is allowed only with a snapshot is not allowed. */
async function unsavedDeletions(
  agent: Agent,
  { needs }: Prepared,
  { ifKept }: Decision,
  { signal }: CallContext,
): Promise<string[]> {
  if (!ifKept || (await agent.keepsDeleted?.(needs, signal))) return [];
  const names = needs.flatMap(({ kind, target }) => (kind === "Delete" ? [target] : [])).join(", ");
  return [`No snapshot holds ${names}, so it could not be brought back: deleting it needs a Write rule, or --force.`];
}

/** Lets the reviewing model judge the call. If the reviewer throws, the user is asked instead. */
async function reviewCall(
  agent: Agent,
  { tool, wireArgs, needs }: Prepared,
  reasons: readonly string[],
  { callId, signal }: CallContext,
): Promise<{ allow: boolean; reason: string } | undefined> {
  if (!agent.review) return undefined;
  try {
    return await agent.review({ callId, tool: tool.name, args: wireArgs, needs, reasons }, signal);
  } catch (error) {
    return { allow: false, reason: `The reviewer failed: ${errorMessage(error)}.` };
  }
}

/** The decision about a call: either a refusal, or permission to run it directly or only in the sandbox. */
type Answered = { refusal?: string; inSandbox?: boolean };

/** Asks the user. Only an explicit yes allows the call; silence, a failure or the end of the run refuses it. */
async function askPerson(
  agent: Agent,
  prepared: Prepared,
  why: Pick<Question, "reasons" | "personOnly">,
  { callId, signal }: CallContext,
  decision: Decision,
): Promise<Answered> {
  const { tool, wireArgs, needs } = prepared;
  if (!agent.ask) return { refusal: why.reasons.join(" ") };
  try {
    const diff = await previewOf(agent, prepared, decision, { callId, signal });
    const question = { callId, tool: tool.name, args: wireArgs, needs, ...why, ...(diff && { diff }) };
    const asking = unlessStopped(signal, () => agent.ask!(question, signal));
    const { allow, reason = "The user said no.", inSandbox } = await orAborted(asking, signal);
    if (allow !== true) return { refusal: reason };
    return inSandbox ? { inSandbox } : {};
  } catch (error) {
    if (signal.aborted) return { refusal: "The run was stopped before there was an answer." };
    return { refusal: `Nobody could be asked: ${errorMessage(error)}.` };
  }
}

/** Question ids of a run, counted from 0 and shared with its subagents. */
const asked = new WeakMap<Agent, number>();

function nextQuestion(agent: Agent): number {
  if (agent.parent) return nextQuestion(agent.parent);
  const id = asked.get(agent) ?? 0;
  asked.set(agent, id + 1);
  return id;
}

/** Yields the question and its answer for readers of the stream. */
async function* reportQuery(
  agent: Agent,
  { tool, wireArgs }: Prepared,
  { callId }: CallContext,
  ask: () => Promise<Answered>,
): AsyncGenerator<AgentEvent, Answered> {
  const id = nextQuestion(agent);
  const kind = `${tool.wire}RequestQuery`;
  yield { type: "ask", id, kind, query: { args: wireArgs, toolCallId: callId }, at: agent.seams.now() };
  const answer = await ask();
  const response = answer.refusal === undefined ? { approved: {} } : { rejected: { reason: answer.refusal } };
  yield { type: "answer", id, kind, response, at: agent.seams.now() };
  return answer;
}

/** Runs the tool after saving what it may change. Live output and questions are yielded as events while it runs. */
async function* runCall(
  agent: Agent,
  { tool, args, needs }: Prepared,
  { approved, mayRead, confined, withNetwork }: Permission,
  { callId, signal, spending = new UsageBudget(), isParallel = false }: CallContext,
): AsyncGenerator<AgentEvent, ToolResult> {
  const events: AgentEvent[] = [];
  let wake: () => void = () => {};
  const emit = (event: AgentEvent) => {
    events.push(event);
    wake();
  };
  const live = new LiveOutput();
  const print = (chunk: string) => {
    live.push(chunk);
    wake();
  };
  const turn: TurnContext = {
    emit,
    async query(kind, query, respond) {
      const id = nextQuestion(agent);
      emit({ type: "ask", id, kind, query: { ...query, toolCallId: callId }, at: agent.seams.now() });
      const response = await respond();
      emit({ type: "answer", id, kind, response, at: agent.seams.now() });
      return response;
    },
    spending,
    isParallel,
    ...(agent.subagents && { subagents: agent.subagents }),
    ...(agent.person && { person: agent.person }),
  };
  const run = async (): Promise<ToolResult> => {
    try {
      const saved = needs.every(onlyLooks) ? undefined : agent.beforeWrite?.(needs, signal);
      if (saved) await orAborted(saved, signal);
    } catch (error) {
      if (signal.aborted) return errorResult(tool.name, new NotRun());
      const why = `${tool.name} was not run, because the files it may change could not be saved first: ${errorMessage(error)}`;
      return errorResult(tool.name, failure(why));
    }
    try {
      const open = withNetwork && { confinedRules: withNetwork, sandbox: agent.toolContext.openSandbox };
      const judged = { approved, mayRead, confined: confined === true, ...open };
      const context = { ...agent.toolContext, ...judged, callId, signal, print, turn };
      return await unlessStopped(signal, () => agent.seams.runTool(tool, args, context));
    } catch (error) {
      return errorResult(tool.name, error);
    }
  };
  let end: ToolResult | undefined;
  const running = run().then((result) => {
    end = result;
    wake();
  });
  while (true) {
    const chunk = live.take();
    if (chunk !== "") yield { type: "tool_output", callId, chunk };
    const event = events.shift();
    if (event) yield event;
    else if (end && !live.isWaiting) break;
    else if (!live.isWaiting)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  await running;
  return end;
}

/** Builds the result that the model and the stream get for a call that threw. */
function errorResult(name: string, error: unknown): ToolResult {
  const isNotRun = error instanceof NotRun;
  const { kind, value, siblings, message } = isNotRun ? failure(error.message) : unexpectedFailure(name, error);
  const outcome: Outcome = { kind, value, ...(siblings && { siblings }) };
  return { outcome, text: message, ...(isNotRun && { isNotRun }) };
}

function rejection({ tool, wireArgs }: Prepared, reason: string): ToolFailure {
  const message = `Not permitted: ${reason} Continue without it, or say what is needed.`;
  const { command, workingDirectory, path } = wireArgs;
  const value =
    tool.wire === "shell"
      ? { command, workingDirectory, reason, isReadonly: false }
      : { ...(path !== undefined && { path }), reason };
  return new ToolFailure("rejected", value, message);
}

function outcomeReason({ value }: Outcome): string {
  return isObject(value) && typeof value["reason"] === "string" ? value["reason"] : "It was refused.";
}
