// Prepares a call before it is permitted: finds its tool, checks its arguments and determines what it needs.

import type { Need } from "../policy/need.ts";
import { isInside } from "../policy/paths.ts";
import type { ToolCallPart, ToolResultPart } from "../protocol/message.ts";
import { notRun } from "../protocol/unless-stopped.ts";
import type { Agent } from "./agent.ts";
import { findTool } from "./tools/index.ts";
import { failure, type Tool, ToolFailure } from "./tools/tool.ts";

/** The maximum number of tool names listed in the error for an unknown tool, since MCP servers may offer thousands. */
const maxNamed = 100;

/** A call that is ready to be permitted: its tool is known and its arguments are valid. */
export type Prepared = { tool: Tool; args: unknown; wireArgs: Record<string, unknown>; needs: Need[] };

export type PreparedCall = { call: ToolCallPart; prepared?: Prepared; failure?: ToolFailure };

export async function prepareCall(agent: Agent, call: ToolCallPart): Promise<PreparedCall> {
  const tool = findTool(agent.tools, call.name);
  if (!tool) {
    const offered = agent.tools.filter(({ name }) => !agent.hiddenTools?.has(name));
    const names = offered.slice(0, maxNamed).map((each) => each.name);
    const others = offered.length - names.length;
    const list = `${names.join(", ")}${others > 0 ? `, and ${others} more` : ""}`;
    return { call, failure: failure(`There is no tool named ${call.name}. The tools are: ${list}.`) };
  }
  try {
    const args = tool.parse(call.args);
    const place = { ...agent.toolContext, callId: call.id };
    const wireArgs = await tool.wireArgs(args, place);
    return { call, prepared: { tool, args, wireArgs, needs: tool.needs(args, place) } };
  } catch (error) {
    return { call, failure: unexpectedFailure(tool.name, error) };
  }
}

/** Answers a call that was made before under the same id: it already has its result and is not run again. */
export function repeatedCall(call: ToolCallPart): PreparedCall {
  const message = `This ${call.name} call was already made and answered, and a call id is used only once: it was not run again. Make a new call if you need it again.`;
  return { call, failure: failure(message) };
}

/** Groups the calls of a reply: calls of a group run in parallel, and each group waits for the one before it. */
export async function batches(calls: readonly PreparedCall[]): Promise<PreparedCall[][]> {
  const done: PreparedCall[][] = [];
  const reading = await readingCommands(calls);
  for (const call of calls) {
    const last = done.at(-1);
    if (last && !last.some((other) => conflict(other, call, reading))) last.push(call);
    else done.push([call]);
  }
  return done;
}

/** Returns the command calls that certainly change no files. */
async function readingCommands(calls: readonly PreparedCall[]): Promise<ReadonlySet<Need>> {
  const commands = calls.flatMap(({ prepared }) => prepared?.needs.filter(({ kind }) => kind === "Shell") ?? []);
  if (commands.length < 2 && !calls.some(isSubagentOrMcpCall)) return new Set();
  const { onlyReads } = await import("../policy/only-reads.ts");
  return new Set(commands.filter(({ target }) => onlyReads(target)));
}

/** Returns whether two calls must not run at the same time because one may change what the other reads or changes. */
function conflict(a: PreparedCall, b: PreparedCall, reading: ReadonlySet<Need>): boolean {
  // An Await runs after the commands before it, and commands after an Await were meant to follow it.
  if (isWait(a) !== isWait(b) && [a, b].some(({ prepared }) => prepared?.tool.wire === "shell")) return true;
  const first = a.prepared?.needs ?? [];
  const second = b.prepared?.needs ?? [];
  const changes = (needs: readonly Need[]) => needs.some((need) => need.kind === "Shell" && !reading.has(need));
  if ((isSubagentOrMcpCall(a) && changes(second)) || (isSubagentOrMcpCall(b) && changes(first))) return true;
  return first.some((one) => second.some((other) => needsConflict(one, other, reading)));
}

/** Returns whether a subagent or an MCP server runs the call; both may change files on which the verdict about a command depends. */
function isSubagentOrMcpCall({ prepared }: PreparedCall): boolean {
  return prepared?.tool.wire === "task" || prepared?.tool.mcp !== undefined;
}

function isWait({ prepared }: PreparedCall): boolean {
  return prepared?.tool.wire === "await";
}

function needsConflict(a: Need, b: Need, reading: ReadonlySet<Need>): boolean {
  const writes = (need: Need) => need.kind === "Write" || need.kind === "Delete";
  const inFiles = (need: Need) => writes(need) || need.kind === "Read";
  // A command may read and change any file, for example what the next one reads, or git's lock.
  if (a.kind === "Shell" && b.kind === "Shell") return !reading.has(a) || !reading.has(b);
  if (a.kind === "Shell" || b.kind === "Shell") return inFiles(a) || inFiles(b);
  if (!inFiles(a) || !inFiles(b) || !(writes(a) || writes(b))) return false;
  return isInside(a.target, b.target) || isInside(b.target, a.target);
}

/** Reports a bug in a tool to the model, so that the run goes on. */
export function unexpectedFailure(name: string, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  return failure(`${name} failed unexpectedly: ${errorMessage(error)}`);
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const maxCallsPerReply = 256;

/** Returns the calls of a reply that are run; the others are answered with an error, and `notice` reports them to the user. */
export function withinLimit(calls: readonly ToolCallPart[]): {
  taken: readonly ToolCallPart[];
  surplus: ToolResultPart[];
  notice?: string;
} {
  if (calls.length <= maxCallsPerReply) return { taken: calls, surplus: [] };
  const text = `Too many calls: only the first ${maxCallsPerReply} calls of a reply are run.`;
  return {
    taken: calls.slice(0, maxCallsPerReply),
    surplus: calls.slice(maxCallsPerReply).map(({ id }) => ({ type: "tool_result", id, text, isError: true })),
    notice: `The model made ${calls.length} calls in one reply: only the first ${maxCallsPerReply} were run.`,
  };
}

/** Builds the result of a call that was stopped before it ran. */
export function notRunResult({ id }: ToolCallPart): ToolResultPart {
  return { type: "tool_result", id, text: notRun, isError: true };
}
