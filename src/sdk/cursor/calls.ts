// Pure functions on the `tool_call` of a stream-json line: its tool, its arguments and its outcome.

import { fieldsOf, isObject, type JsonObject, tryParse } from "../../json/object.ts";
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
 * Returns the unified tool name: Read, Edit, Bash, … An edit that creates a file is `Write`, which only the finished call
 * shows. Other tools keep their own name; `Unknown` if the call names none.
 */
export function normalizeToolName(toolCall: unknown): string {
  const { name, body } = toolIn(toolCall);
  return name === undefined ? "Unknown" : nameOfCall(name, body.args, outcomeOf(body.result));
}

/** Returns the arguments of a call, with the field names of the wire. */
export function extractToolArgs(toolCall: unknown): Record<string, unknown> {
  const { args } = toolIn(toolCall).body;
  const parsedArgs = typeof args === "string" ? tryParse(args) : args;
  return fieldsOf(parsedArgs);
}

/** Returns the outcome of a call as JSON or, if it failed, the tool's own error text. Empty: no result yet. */
export function extractToolResult(toolCall: unknown): string {
  return outcomeText(outcomeIn(toolCall));
}

/** Checks whether a call failed or was refused. A call without a result did neither. */
export function hasError(toolCall: unknown): boolean {
  return isErrorOutcome(outcomeIn(toolCall));
}

/** Returns the unified name of a call; `name` is the tool's name in the CLI's stream. */
export function nameOfCall(name: string, args: unknown, outcome: Outcome | undefined): string {
  return name === "Edit" && createsFile(args, outcome) ? "Write" : unifiedToolName("cursor", name);
}

export function outcomeText(outcome: Outcome | undefined): string {
  if (!outcome) return "";
  // The output of a command that exited non-zero has the same form as that of one that succeeded.
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

/** Besides `<name>ToolCall{args, result}`, accepts forms that some CLIs use: `function{name, arguments}`, `{name, args}`. */
function toolIn(toolCall: unknown): { name: string | undefined; body: JsonObject } {
  if (!isObject(toolCall)) return { name: undefined, body: {} };
  const key = toolKeyOf(toolCall);
  if (key !== undefined) return { name: displayNameOf(toolOfKey(key)), body: toolCall[key] as JsonObject };
  const functionFields = isObject(toolCall.function) ? toolCall.function : toolCall;
  const body = {
    args: functionFields.arguments ?? functionFields.args ?? functionFields.input,
    result: functionFields.result ?? toolCall.result,
  };
  return { name: typeof functionFields.name === "string" ? functionFields.name : undefined, body };
}

/** The wire has one tool for Write and Edit; its outcome includes the previous content if there was any. */
function createsFile(args: unknown, outcome: Outcome | undefined): boolean {
  if (outcome?.kind !== "success" || !isObject(outcome.value) || "beforeFullFileContent" in outcome.value) return false;
  return !isObject(args) || !["strReplace", "multiStrReplace", "applyPatch"].some((key) => key in args);
}
