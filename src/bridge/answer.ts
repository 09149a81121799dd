// HookAnswer: what a handler may return, and which parts of it a host cannot carry.
import { isObject, type JsonObject } from "../json/object.ts";
import { nearestName } from "../text/nearest.ts";
import type { HostName } from "./event.ts";

/** What a hook decides about a call or a prompt. */
export type HookDecision = "allow" | "deny" | "ask";

/** What a handler may return. */
export type HookAnswer = {
  decision?: HookDecision;
  /** Text for the model. On Stop: what it should do next. */
  reason?: string;
  /** Text that is shown to the user. */
  user_message?: string;
  /** Replaces the arguments of the call, all of them. */
  modified_input?: JsonObject;
  /** Text for the model, in addition to what happened. */
  additional_context?: string;
};

/** The name of a field of an answer. */
export type AnswerField = keyof HookAnswer;
/** The fields of an answer. */
export const answerFields = ["decision", "reason", "user_message", "modified_input", "additional_context"] as const;

/** A part of an answer that the host could not take as given. */
export type AnswerLoss = {
  field: AnswerField;
  host: HostName;
  /** The host's name for the event. */
  event: string;
  /** What the host gets instead; absent if the field was dropped. */
  instead?: string;
};

/** What the host reads. `stderr` consists of whole lines. */
export type HookReply = { stdout: string; stderr: string; exit_code: number; losses: AnswerLoss[] };

/** The prefix of all warnings, so that they can be filtered. */
const prefix = "[agent-hooks-bridge]";

export function warningLine(text: string): string {
  return `${prefix} ${text}\n`;
}

export type AnswerFault = { fault: string };

/** Checks what a handler returned: a guard that misspells its refusal must not let the call pass. */
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
