// One call of a tool: parse, permit, run. Whatever happens, a started call gets its end.

import type { Decision, Need } from "../policy/need.ts";
import { isInside } from "../policy/paths.ts";
import type { AgentEvent, Denial, Outcome } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { Agent } from "./agent.ts";
import { findTool } from "./tools/index.ts";
import { failure, type Tool, ToolFailure, type ToolResult } from "./tools/tool.ts";

export type ToolCallPart = Extract<Part, { type: "tool_call" }>;
export type ToolResultPart = Extract<Part, { type: "tool_result" }>;

export type CallEnd = { result: ToolResultPart; denial?: Denial };

/** A call that is ready to be permitted: its tool is known and its arguments are valid. */
type Prepared = { tool: Tool; args: unknown; wireArgs: Record<string, unknown>; needs: Need[] };

export type PreparedCall = { call: ToolCallPart; prepared?: Prepared; failure?: ToolFailure };

export async function prepareCall(agent: Agent, call: ToolCallPart): Promise<PreparedCall> {
  const tool = findTool(agent.tools, call.name);
  if (!tool) {
    const names = agent.tools.map((each) => each.name).join(", ");
    return { call, failure: failure(`There is no tool named ${call.name}. The tools are: ${names}.`) };
  }
  try {
    const args = tool.parse(call.args);
    const place = { ...agent.toolContext, callId: call.id };
    const wireArgs = await tool.wireArgs(args, place);
    return { call, prepared: { tool, args, wireArgs, needs: tool.needs(args, place) } };
  } catch (error) {
    return { call, failure: unexpected(tool.name, error) };
  }
}

/** A call that was made before, under the same id: it has its result, and is not run again. */
export function repeatedCall(call: ToolCallPart): PreparedCall {
  const message = `This call of ${call.name} was made and answered before: an id counts once. It was not run again. Make a new call if it is needed again.`;
  return { call, failure: failure(message) };
}

export async function* callTool(
  agent: Agent,
  { call, prepared, failure: wrong }: PreparedCall,
  context: { modelCallId: string; signal: AbortSignal },
): AsyncGenerator<AgentEvent, CallEnd> {
  const startedAt = Date.now();
  const tool = prepared?.tool.wire ?? findTool(agent.tools, call.name)?.wire ?? call.name.replace(/\W+/g, "_");
  const args =
    prepared?.wireArgs ?? (typeof call.args === "object" && call.args !== null ? call.args : { input: call.args });
  const frame = { callId: call.id, tool, args, modelCallId: context.modelCallId, startedAt };
  yield { type: "tool_start", ...frame, at: startedAt };

  let end: ToolResult;
  let denial: Denial | undefined;
  if (!prepared) {
    end = resultOfFailure(wrong!);
  } else {
    const { refusal, decision } = await permit(agent, prepared);
    if (refusal !== undefined) {
      denial = { tool: prepared.tool.name, callId: call.id, reason: refusal };
      end = resultOfFailure(rejection(prepared, refusal));
    } else {
      end = yield* runTool(agent, prepared, decision, { callId: call.id, signal: context.signal });
    }
  }

  const completedAt = Date.now();
  yield { type: "tool_end", ...frame, outcome: end.outcome, completedAt, at: completedAt };
  const isError = !isSuccess(end.outcome);
  const result: ToolResultPart = {
    type: "tool_result",
    id: call.id,
    text: end.text,
    isError,
    ...(end.images && { images: end.images }),
  };
  return { result, ...(denial && { denial }) };
}

/** The reason of the refusal; none when the call may run. */
async function permit(agent: Agent, prepared: Prepared): Promise<{ refusal?: string; decision: Decision }> {
  const decision = await agent.decide(prepared.needs).catch(undecided);
  const { verdict, reasons } = decision;
  if (verdict === "allow") return { decision };
  if (verdict === "deny" || !agent.ask) return { refusal: reasons.join(" "), decision };
  const answer = await agent.ask({ tool: prepared.tool.name, args: prepared.wireArgs, needs: prepared.needs, reasons });
  return answer.allow ? { decision } : { refusal: answer.reason ?? "The user said no.", decision };
}

/** What cannot be judged is not permitted. */
function undecided(error: unknown): Decision {
  return {
    verdict: "deny",
    reasons: [`It could not be judged: ${error instanceof Error ? error.message : String(error)}.`],
  };
}

/** Live output passes as events while the tool runs. */
async function* runTool(
  agent: Agent,
  { tool, args }: Prepared,
  { approved, mayRead }: Decision,
  { callId, signal }: { callId: string; signal: AbortSignal },
): AsyncGenerator<AgentEvent, ToolResult> {
  const chunks: string[] = [];
  let wake: () => void = () => {};
  const print = (chunk: string) => {
    chunks.push(chunk);
    wake();
  };
  let end: ToolResult | undefined;
  const running = tool
    .run(args, { ...agent.toolContext, approved, mayRead, callId, signal, print })
    .catch((error: unknown) => resultOfFailure(unexpected(tool.name, error)))
    .then((result) => {
      end = result;
      wake();
    });
  while (true) {
    while (chunks.length > 0) yield { type: "tool_output", callId, chunk: chunks.shift()! };
    if (end) break;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (end || chunks.length > 0) resolve();
    });
  }
  await running;
  return end;
}

/** Two calls may run together unless one may change what the other reads or changes. */
export function conflict(a: PreparedCall, b: PreparedCall): boolean {
  const first = a.prepared?.needs ?? [];
  const second = b.prepared?.needs ?? [];
  return first.some((one) => second.some((other) => needsConflict(one, other)));
}

function needsConflict(a: Need, b: Need): boolean {
  const writes = (need: Need) => need.kind === "Write" || need.kind === "Delete";
  const inFiles = (need: Need) => writes(need) || need.kind === "Read";
  // A command may read and change any file. Commands sent together are meant to run together.
  if (a.kind === "Shell" || b.kind === "Shell") return inFiles(a) || inFiles(b);
  if (!inFiles(a) || !inFiles(b) || !(writes(a) || writes(b))) return false;
  return isInside(a.target, b.target) || isInside(b.target, a.target);
}

/** A bug in one tool must not take the run with it: the model is told, the run goes on. */
function unexpected(name: string, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  return failure(`${name} failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`);
}

function resultOfFailure(failure: ToolFailure): ToolResult {
  const outcome: Outcome = {
    kind: failure.kind,
    value: failure.value,
    ...(failure.siblings && { siblings: failure.siblings }),
  };
  return { outcome, text: failure.message };
}

function rejection({ tool, wireArgs }: Prepared, reason: string): ToolFailure {
  const message = `Not permitted: ${reason} Go on without it, or say what is needed.`;
  const { command, workingDirectory, path } = wireArgs;
  const value =
    tool.wire === "shell"
      ? { command, workingDirectory, reason, isReadonly: false }
      : { ...(path !== undefined && { path }), reason };
  return new ToolFailure("rejected", value, message);
}

function isSuccess(outcome: Outcome): boolean {
  return outcome.kind === "success";
}
