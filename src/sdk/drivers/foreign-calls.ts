// Converts calls of other CLIs to agent events: tool and arguments in Cursor's wire format, with the CLI's own kept alongside.
import { isObject, stringOrEmpty } from "../../json/object.ts";
import type { AgentEvent, Outcome } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { ownCallOf, unifiedToolName } from "../tool-names.ts";
import type { UnifiedTool } from "../unified.ts";
import { outcomeOfResult, wireCallOf } from "../wire-calls.ts";
import type { ForeignCarried } from "./carry.ts";

/** `as` is the unified tool name, if it cannot be derived from `name`. */
export type ForeignCall = { id: string; name: string; as?: string; input: unknown };

/** What a CLI reported about the end of a call. `outcome` is set if there is more than text for the model. */
export type ForeignResult = {
  text: string;
  isError: boolean;
  refused?: boolean;
  outcome?: Outcome | ((call: ToolCallPart) => Outcome | undefined) | undefined;
};

type ForeignCallStart = Extract<AgentEvent, { type: "tool_start" }>;
type OpenCall = { call: ForeignCall; start: ForeignCallStart; part: ToolCallPart; carried: ForeignCarried };
type ForeignCallEnd = Extract<AgentEvent, { type: "tool_end" }>;

/** Returns a key that identifies a call, for CLIs whose hooks do not receive the call's id. */
export function callKey(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input)}`;
}

/** The open calls of one run, to match results with their calls. */
export class ForeignCalls {
  readonly #tool: UnifiedTool;
  readonly #changed: ReadonlyMap<string, unknown>;
  readonly #open = new Map<string, OpenCall>();

  /** `changed` is the inputs that a callback substituted for the model's, by call id. */
  constructor(tool: UnifiedTool, changed: ReadonlyMap<string, unknown> = new Map()) {
    this.#tool = tool;
    this.#changed = changed;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  start(call: ForeignCall, at?: number): ForeignCallStart {
    const { id } = call;
    const name = call.as ?? unifiedToolName(this.#tool, call.name);
    const input = this.#changed.get(this.#changeKey(call)) ?? call.input;
    const part: ToolCallPart = {
      type: "tool_call",
      id,
      ...ownCallOf({ type: "tool_use", id, name, input }, this.#tool),
    };
    const { tool, args } = wireCallOf(part);
    const carried = { codec: this.#tool, name: call.name, ...(call.as !== undefined && { as: call.as }), input };
    const start: ForeignCallStart = {
      type: "tool_start",
      callId: id,
      tool,
      args,
      ...(at !== undefined && { at }),
      carried,
    };
    this.#open.set(id, { call, start, part, carried });
    return start;
  }

  /** Ends a call. If its start was never reported, a call of an unknown tool is added first. */
  end(id: string, foreignResult: ForeignResult, at?: number): ForeignCallEnd {
    const open = this.#open.get(id);
    if (open && this.#changed.has(this.#changeKey(open.call))) this.start(open.call);
    const { start, part, carried } = this.#open.get(id) ?? this.#unknown(id);
    this.#open.delete(id);
    const result = { type: "tool_result" as const, id, text: foreignResult.text, isError: foreignResult.isError };
    const reported = typeof foreignResult.outcome === "function" ? foreignResult.outcome(part) : foreignResult.outcome;
    const outcome = foreignResult.refused
      ? { kind: "rejected", value: { reason: foreignResult.text } }
      : (reported ?? outcomeOfResult(part, result));
    const { tool, args } = start;
    const end: ForeignCallEnd = { type: "tool_end", callId: id, tool, args, outcome, ...(at !== undefined && { at }) };
    end.carried = { ...carried, output: foreignResult.text };
    return end;
  }

  #changeKey({ id, name, input }: ForeignCall): string {
    return this.#changed.has(id) ? id : callKey(name, input);
  }

  #unknown(id: string) {
    const start: ForeignCallStart = { type: "tool_start", callId: id, tool: "unknown", args: {} };
    const part = { type: "tool_call" as const, id, name: "unknown", args: {} };
    return { start, part, carried: { codec: this.#tool } };
  }
}

/** Converts pieces of text and whole texts to `text` and `text_end`, without repeating any text. */
export class ForeignText {
  #open = "";
  /** The text of all segments of the run. */
  whole = "";

  delta(text: string, at?: number): AgentEvent[] {
    if (text === "") return [];
    this.#open += text;
    return [{ type: "text", text, ...(at !== undefined && { at }) }];
  }

  /** Ends a segment of text. If its pieces were incomplete, adds the missing rest first. */
  segment(text: string, at?: number): AgentEvent[] {
    const missing = text.startsWith(this.#open) ? text.slice(this.#open.length) : "";
    const before = this.delta(missing, at);
    this.#open = "";
    this.whole += text;
    return [...before, { type: "text_end", text, ...(at !== undefined && { at }) }];
  }

  /** The request is retried: returns whether there is a partial text that will be sent again. */
  discard(): boolean {
    const isCut = this.#open !== "";
    this.#open = "";
    return isCut;
  }

  /** Ends the current text if the CLI has not done so. */
  flush(at?: number): AgentEvent[] {
    return this.#open === "" ? [] : this.segment(this.#open, at);
  }
}

/** The text of a message or of a result: a string, or the texts of its blocks. */
export function wordsIn(content: unknown): string {
  if (!Array.isArray(content)) return stringOrEmpty(content);
  return content.map((block) => (isObject(block) ? stringOrEmpty(block.text) : "")).join("");
}

export function parseTime(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Creates a notice for what a CLI says beside its work; none for a blank message. */
export function noticeEvents(kind: string, message: string, at?: number): AgentEvent[] {
  return message.trim() === "" ? [] : [{ type: "notice", kind, message, ...(at !== undefined && { at }) }];
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
