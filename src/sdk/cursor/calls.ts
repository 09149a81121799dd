// Pure functions on the `tool_call` of a stream-json line: which tool, with what, and how it ended.

import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import type { Outcome } from "../../protocol/event.ts";
import {
  displayNameOf,
  errorTextOf,
  outcomeGroupOf,
  outcomeOf,
  toolKeyOf,
  toolOfKey,
} from "../../protocol/tool-calls.ts";
import { unifiedToolName } from "../tool-names.ts";

/**
 * Read, Edit, Bash, …: one name for the same tool of every CLI. An edit of a file that was not there is `Write`, which only
 * the finished call tells. A tool in no list keeps its own name; `Unknown`: nothing in the call names one.
 */
export function normalizeToolName(toolCall: unknown): string {
  const { name, body } = toolIn(toolCall);
  return name === undefined ? "Unknown" : nameOfCall(name, body.args, outcomeOf(body.result));
}

/** The arguments, as the wire spells them. */
export function extractToolArgs(toolCall: unknown): Record<string, unknown> {
  const { args } = toolIn(toolCall).body;
  const given = typeof args === "string" ? tryParse(args) : args;
  return isObject(given) ? given : {};
}

/** What came of a call: the outcome as JSON, or the reason why there is none in the tool's own words. Empty: no result yet. */
export function extractToolResult(toolCall: unknown): string {
  return outcomeText(outcomeIn(toolCall));
}

/** Whether the call failed or was refused. A call without a result did neither. */
export function hasError(toolCall: unknown): boolean {
  return isErrorOutcome(outcomeIn(toolCall));
}

/** `name`: as a model knows the tool. */
export function nameOfCall(name: string, args: unknown, outcome: Outcome | undefined): string {
  return name === "Edit" && createsFile(args, outcome) ? "Write" : unifiedToolName("cursor", name);
}

export function outcomeText(outcome: Outcome | undefined): string {
  if (!outcome) return "";
  // A command that ran and exited non-zero has an output like one that did not.
  const isOutput = outcome.kind === "success" || outcome.kind === "failure";
  const reason = isOutput ? undefined : errorTextOf(outcome);
  return reason ?? (typeof outcome.value === "string" ? outcome.value : (JSON.stringify(outcome.value) ?? ""));
}

export function isErrorOutcome(outcome: Outcome | undefined): boolean {
  const group = outcomeGroupOf(outcome);
  return group === "failed" || group === "refused";
}

function outcomeIn(toolCall: unknown): Outcome | undefined {
  return outcomeOf(toolIn(toolCall).body.result);
}

/** Beside `<name>ToolCall{args, result}`, forms that some CLIs use: `function{name, arguments}`, `{name, args}`. */
function toolIn(toolCall: unknown): { name: string | undefined; body: JsonObject } {
  if (!isObject(toolCall)) return { name: undefined, body: {} };
  const key = toolKeyOf(toolCall);
  if (key !== undefined) return { name: displayNameOf(toolOfKey(key)), body: toolCall[key] as JsonObject };
  const given = isObject(toolCall.function) ? toolCall.function : toolCall;
  const body = { args: given.arguments ?? given.args ?? given.input, result: given.result ?? toolCall.result };
  return { name: typeof given.name === "string" ? given.name : undefined, body };
}

/** The wire has one tool for both, and tells what was there before. */
function createsFile(args: unknown, outcome: Outcome | undefined): boolean {
  if (outcome?.kind !== "success" || !isObject(outcome.value) || "beforeFullFileContent" in outcome.value) return false;
  return !isObject(args) || !["strReplace", "multiStrReplace", "applyPatch"].some((key) => key in args);
}
