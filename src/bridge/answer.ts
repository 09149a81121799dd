// The unified answer: what a handler may say, and what of it a host cannot carry over.
import { isObject, type JsonObject } from "../json/object.ts";
import { nearestName } from "../text/nearest.ts";
import type { HostName } from "./event.ts";

export type Decision = "allow" | "deny" | "ask";

export type HookAnswer = {
  decision?: Decision;
  /** For the model. On Stop: what it shall do next. */
  reason?: string;
  /** For the person. */
  user_message?: string;
  /** The arguments to call the tool with instead: all of them. */
  modified_input?: JsonObject;
  /** For the model, beside what happened. */
  additional_context?: string;
};

export type AnswerField = keyof HookAnswer;
export const answerFields = ["decision", "reason", "user_message", "modified_input", "additional_context"] as const;

/** A part of an answer that did not arrive as it was meant. */
export type Loss = {
  field: AnswerField;
  host: HostName;
  /** The host's name of the event. */
  event: string;
  /** What the host is told instead; nothing: the field was dropped. */
  instead?: string;
};

/** What the host reads. `stderr` holds whole lines. */
export type HookReply = { stdout: string; stderr: string; exit_code: number; losses: Loss[] };

/** One for all warnings, so that one filter finds them. */
const prefix = "[agent-hooks-bridge]";

export function warning(text: string): string {
  return `${prefix} ${text}\n`;
}

export type AnswerFault = { fault: string };

/** What a handler returned, checked: a guard that misspells its refusal must not let pass. */
export function readAnswer(returned: unknown): HookAnswer | AnswerFault {
  if (returned === undefined || returned === null) return {};
  if (!isObject(returned)) return { fault: `it returned ${describe(returned)}, not an object` };
  const answer: JsonObject = {};
  for (const [key, value] of Object.entries(returned)) {
    const field = answerFields.find((name) => name === key);
    if (!field) {
      const meant = nearestName(key, answerFields);
      return { fault: `"${key.slice(0, 60)}" is not a field of an answer${meant ? ` (did you mean ${meant}?)` : ""}` };
    }
    if (value === undefined) continue;
    if (!checks[field].holds(value))
      return { fault: `"${field}" must be ${checks[field].kind}, not ${describe(value)}` };
    answer[field] = value;
  }
  return answer as HookAnswer;
}

const text = { kind: "a string", holds: (value: unknown) => typeof value === "string" };
const checks: Record<AnswerField, { kind: string; holds(value: unknown): boolean }> = {
  decision: { kind: "allow, deny or ask", holds: (value) => value === "allow" || value === "deny" || value === "ask" },
  reason: text,
  user_message: text,
  modified_input: { kind: "an object", holds: isObject },
  additional_context: text,
};

function describe(value: unknown): string {
  return typeof value === "string"
    ? JSON.stringify(value.slice(0, 60))
    : Array.isArray(value)
      ? "an array"
      : `a ${typeof value}`;
}
