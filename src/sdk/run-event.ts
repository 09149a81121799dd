// RunEvent: an AgentEvent of a run, whose calls have one name, whichever CLI made them, and arguments and outcomes by that name.
import { existsSync } from "node:fs";
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { displayNameOf } from "../protocol/tool-calls.ts";
import type { ToolShapes } from "../protocol/tool-shapes.ts";
import { nameOfCall } from "./cursor/calls.ts";
import { unifiedToolName } from "./tool-names.ts";
import type { UnifiedTool } from "./unified.ts";

/** The one list of names, each with its shape on the wire. */
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

/** What a call is called in events, messages and callbacks, whichever CLI made it. */
export type ToolName = keyof CallShapes;

/** The name of a tool that is in no list, as its CLI says it. */
export type OtherToolName = string & {};

/** What says which file, command or search a call is about. Every CLI tells it; of the rest, each tells its part. */
type Telling = "path" | "command" | "pattern" | "globPattern" | "url" | "searchTerm" | "query" | "todos" | "toolName";

/** As much as the CLI told: what it did not say is absent. */
type Told<Shape, Sure = never> = Shape extends object
  ? Partial<Shape> & Pick<Shape, Extract<keyof Shape, Sure>>
  : Shape;

export type ToolArgs<Name extends ToolName> = Told<CallShapes[Name]["args"], Telling>;

/** How a call ended: `kind` says which value it has. A newer CLI may have kinds that are not listed here. */
export type ToolOutcome<Name extends ToolName> = {
  [Kind in OutcomeKind<Name>]: {
    kind: Kind;
    value: Told<NonNullable<NonNullable<CallShapes[Name]["result"]>[Kind]>>;
    siblings?: Record<string, unknown>;
  };
}[OutcomeKind<Name>];

/** What stands beside the outcomes of a result is none. */
type OutcomeKind<Name extends ToolName> = Exclude<
  keyof NonNullable<CallShapes[Name]["result"]>,
  "isBackground" | "sandboxPolicy" | "terminalsFolder" | "pid" | "planUri"
>;

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** `tool`: as the wire of cursor-agent calls it. `cliName`: as the CLI itself does, where that is another. */
type Names<Name> = { name: Name; cliName?: string };

export type ToolStartEvent =
  | { [Name in ToolName]: Omit<Of<"tool_start">, "args"> & Names<Name> & { args: ToolArgs<Name> } }[ToolName]
  | (Of<"tool_start"> & Names<OtherToolName>);

export type ToolEndEvent =
  | {
      [Name in ToolName]: Omit<Of<"tool_end">, "args" | "outcome"> &
        Names<Name> & { args: ToolArgs<Name>; outcome?: ToolOutcome<Name> };
    }[ToolName]
  | (Of<"tool_end"> & Names<OtherToolName>);

export type RunEvent = Exclude<AgentEvent, { type: "tool_start" | "tool_end" }> | ToolStartEvent | ToolEndEvent;

/** Narrows an event to a call of one tool, with its arguments and outcomes: names that are in no list stand in the way of `===`. */
export function isCall<Name extends ToolName>(event: RunEvent, name: Name): event is CallEvent<Name> {
  return (event.type === "tool_start" || event.type === "tool_end") && event.name === name;
}

export type CallEvent<Name extends ToolName> = Extract<ToolStartEvent | ToolEndEvent, { name: Name }>;

type NamedCall = { name: string; cliName?: string };

/** One for each run: a call has the name at its end that it had at its start. */
export function createNamer({ tool, isOurs }: { tool: UnifiedTool; isOurs: boolean }): (event: AgentEvent) => RunEvent {
  const open = new Map<string, NamedCall>();
  return (event) => {
    if (event.type !== "tool_start" && event.type !== "tool_end") return event;
    const named = open.get(event.callId) ?? nameOf(event, tool, isOurs);
    if (event.type === "tool_start") open.set(event.callId, named);
    else open.delete(event.callId);
    return { ...event, ...named } as RunEvent;
  };
}

function nameOf(event: Of<"tool_start" | "tool_end">, tool: UnifiedTool, isOurs: boolean): NamedCall {
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

/** The wire has one tool for both. Ours spells out what it replaces; of the original, only the disk tells. */
function writesWhole({ type, args }: AgentEvent & { args: unknown }, isOurs: boolean): boolean {
  if (!isObject(args) || ["strReplace", "multiStrReplace", "applyPatch"].some((key) => key in args)) return false;
  if (isOurs) return "streamContent" in args;
  return type === "tool_start" && typeof args.path === "string" && !existsSync(args.path);
}
