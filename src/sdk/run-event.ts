// RunEvent: an AgentEvent whose tool calls have the same names, arguments and outcomes for every CLI.
import { existsSync } from "node:fs";
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { displayNameOf } from "../protocol/tool-calls.ts";
import type { ToolShapes } from "../protocol/tool-shapes.ts";
import { nameOfCall } from "./cursor/calls.ts";
import { unifiedToolName } from "./tool-names.ts";
import type { UnifiedTool } from "./unified.ts";

/** The unified tool names, each with its shape on the wire. */
interface CallShapes {
  Read: ToolShapes["readToolCall"];
  Write: ToolShapes["editToolCall"];
  Edit: ToolShapes["editToolCall"];
  Bash: ToolShapes["shellToolCall"];
  Ls: ToolShapes["lsToolCall"];
  Grep: ToolShapes["grepToolCall"];
  Glob: ToolShapes["globToolCall"];
  Delete: ToolShapes["deleteToolCall"];
  TodoWrite: ToolShapes["updateTodosToolCall"];
  WebFetch: ToolShapes["webFetchToolCall"];
  WebSearch: ToolShapes["webSearchToolCall"];
  SemanticSearch: ToolShapes["semSearchToolCall"];
  Mcp: ToolShapes["mcpToolCall"];
  AskQuestion: ToolShapes["askQuestionToolCall"];
  CreatePlan: ToolShapes["createPlanToolCall"];
  Task: ToolShapes["taskToolCall"];
  Await: ToolShapes["awaitToolCall"];
}

/** The name of a tool in events, messages and callbacks, the same for every CLI. */
export type ToolName = keyof CallShapes;

/** A tool without a unified name, by the CLI's own name for it. */
export type OtherToolName = string & {};

/** The arguments that identify what a call is about. Every CLI reports these; the others vary between CLIs. */
type Telling = "path" | "command" | "pattern" | "globPattern" | "url" | "searchTerm" | "query" | "todos" | "toolName";

/** A call's fields, of which only those that the CLI reported are present. */
type Present<Shape, Sure = never> = Shape extends object
  ? Partial<Shape> & Pick<Shape, Extract<keyof Shape, Sure>>
  : Shape;

/** The arguments of a tool call. */
export type ToolArgs<Name extends ToolName> = Present<CallShapes[Name]["args"], Telling>;

/** How a call ended: `kind` selects the type of `value`. A newer CLI may have kinds that are not listed here. */
export type ToolOutcome<Name extends ToolName> = {
  [Kind in OutcomeKind<Name>]: {
    kind: Kind;
    value: Present<NonNullable<NonNullable<CallShapes[Name]["result"]>[Kind]>>;
    siblings?: Record<string, unknown>;
  };
}[OutcomeKind<Name>];

/** Leaves out the fields that accompany the outcome in a result. */
type OutcomeKind<Name extends ToolName> = Exclude<
  keyof NonNullable<CallShapes[Name]["result"]>,
  "isBackground" | "sandboxPolicy" | "terminalsFolder" | "pid" | "planUri"
>;

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** `name` is the unified tool name, beside `tool`, the name on cursor-agent's wire. `cliName` is the CLI's own name, if it differs. */
type Names<Name> = { name: Name; cliName?: string };

/** The event of a tool call that starts. */
export type ToolStartEvent =
  | { [Name in ToolName]: Omit<Of<"tool_start">, "args"> & Names<Name> & { args: ToolArgs<Name> } }[ToolName]
  | (Of<"tool_start"> & Names<OtherToolName>);

/** The event of a tool call that ended, with its outcome. */
export type ToolEndEvent =
  | {
      [Name in ToolName]: Omit<Of<"tool_end">, "args" | "outcome"> &
        Names<Name> & { args: ToolArgs<Name>; outcome?: ToolOutcome<Name> };
    }[ToolName]
  | (Of<"tool_end"> & Names<OtherToolName>);

/** An event of a run, with unified tool names. */
export type RunEvent = Exclude<AgentEvent, { type: "tool_start" | "tool_end" }> | ToolStartEvent | ToolEndEvent;

/**
 * Narrows an event to a call of one tool, with its arguments and outcomes; comparing `name` with `===` does not narrow, as
 * it may be any string.
 */
export function isCall<Name extends ToolName>(event: RunEvent, name: Name): event is CallEvent<Name> {
  return (event.type === "tool_start" || event.type === "tool_end") && event.name === name;
}

/** The start or the end of a call of one tool. */
export type CallEvent<Name extends ToolName> = Extract<ToolStartEvent | ToolEndEvent, { name: Name }>;

type NamedCall = { name: string; cliName?: string };

/** Returns a function that gives tool calls unified names. Create one for each run: the end of a call gets the name of its start. */
export function createNamer({ tool, isOurs }: { tool: UnifiedTool; isOurs: boolean }): (event: AgentEvent) => RunEvent {
  const open = new Map<string, NamedCall>();
  return (event) => {
    if (event.type !== "tool_start" && event.type !== "tool_end") return event;
    const named = open.get(event.callId) ?? unifiedCallName(event, tool, isOurs);
    if (event.type === "tool_start") open.set(event.callId, named);
    else open.delete(event.callId);
    return { ...event, ...named } as RunEvent;
  };
}

function unifiedCallName(event: Of<"tool_start" | "tool_end">, tool: UnifiedTool, isOurs: boolean): NamedCall {
  const { carried } = event;
  if (tool !== "cursor" && isObject(carried) && typeof carried.name === "string") {
    const name = typeof carried.as === "string" ? carried.as : unifiedToolName(tool, carried.name);
    return name === carried.name ? { name } : { name, cliName: carried.name };
  }
  const cliName = displayNameOf(event.tool);
  if (cliName === "Edit" && writesWhole(event, isOurs)) return { name: "Write" };
  const name = nameOfCall(cliName, event.args, event.type === "tool_end" ? event.outcome : undefined);
  return name === cliName ? { name } : { name, cliName };
}

/** The wire has one tool for both Write and Edit. Courser's CLI states what it replaces; for cursor-agent, check the disk. */
function writesWhole({ type, args }: AgentEvent & { args: unknown }, isOurs: boolean): boolean {
  if (!isObject(args) || ["strReplace", "multiStrReplace", "applyPatch"].some((key) => key in args)) return false;
  if (isOurs) return "streamContent" in args;
  return type === "tool_start" && typeof args.path === "string" && !existsSync(args.path);
}
