// Calls of other CLIs as events of ours: the tool and its arguments in the words of the wire, the source's own carried along.
import type { AgentEvent, Outcome } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { ownCallOf, unifiedToolName } from "../tool-names.ts";
import type { UnifiedTool } from "../unified.ts";
import { outcomeOfResult, wireCallOf } from "../wire-calls.ts";
import type { ForeignCarried } from "./carry.ts";

export type ForeignCall = { id: string; name: string; input: unknown };

type ForeignCallStart = Extract<AgentEvent, { type: "tool_start" }>;
type ForeignCallEnd = Extract<AgentEvent, { type: "tool_end" }>;

/** The calls of one run, so that a result finds its call. */
export class ForeignCalls {
  readonly #tool: UnifiedTool;
  readonly #open = new Map<string, { start: ForeignCallStart; part: ToolCallPart }>();

  constructor(tool: UnifiedTool) {
    this.#tool = tool;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  start({ id, name, input }: ForeignCall, at?: number): ForeignCallStart {
    const block = { type: "tool_use" as const, id, name: unifiedToolName(this.#tool, name), input };
    const part: ToolCallPart = { type: "tool_call", id, ...ownCallOf(block, this.#tool) };
    const { tool, args } = wireCallOf(part);
    const start: ForeignCallStart = { type: "tool_start", callId: id, tool, args, ...(at !== undefined && { at }) };
    start.carried = { codec: this.#tool, name, input };
    this.#open.set(id, { start, part });
    return start;
  }

  /** `outcome`: where the source says more than words for the model. A result without a call gets an unknown one. */
  end(
    id: string,
    said: { text: string; isError: boolean; refused?: boolean; outcome?: Outcome },
    at?: number,
  ): ForeignCallEnd {
    const { start, part } = this.#open.get(id) ?? this.#unknown(id);
    this.#open.delete(id);
    const result = { type: "tool_result" as const, id, text: said.text, isError: said.isError };
    const outcome = said.refused
      ? { kind: "rejected", value: { reason: said.text } }
      : (said.outcome ?? outcomeOfResult(part, result));
    const { tool, args } = start;
    const end: ForeignCallEnd = { type: "tool_end", callId: id, tool, args, outcome, ...(at !== undefined && { at }) };
    const { name, input } = (start.carried ?? {}) as ForeignCarried;
    end.carried = { codec: this.#tool, ...(name !== undefined && { name, input }), output: said.text };
    return end;
  }

  #unknown(id: string) {
    const start: ForeignCallStart = { type: "tool_start", callId: id, tool: "unknown", args: {} };
    return { start, part: { type: "tool_call" as const, id, name: "unknown", args: {} } };
  }
}

/** Pieces of text and whole texts -> `text` and `text_end`, each text once. */
export class ForeignText {
  #open = "";
  /** Every segment of the run. */
  whole = "";

  delta(text: string, at?: number): AgentEvent[] {
    if (text === "") return [];
    this.#open += text;
    return [{ type: "text", text, ...(at !== undefined && { at }) }];
  }

  /** A whole segment: what the pieces left out, then its end. */
  segment(text: string, at?: number): AgentEvent[] {
    const missing = text.startsWith(this.#open) ? text.slice(this.#open.length) : "";
    const before = this.delta(missing, at);
    this.#open = "";
    this.whole += text;
    return [...before, { type: "text_end", text, ...(at !== undefined && { at }) }];
  }

  /** What was not ended by anybody. */
  flush(at?: number): AgentEvent[] {
    return this.#open === "" ? [] : this.segment(this.#open, at);
  }
}

export function timeOf(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** A kind of line that is known and says nothing that events have a place for. */
export function remark(kind: string, message = "", at?: number): AgentEvent {
  return { type: "notice", kind, message, ...(at !== undefined && { at }) };
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
