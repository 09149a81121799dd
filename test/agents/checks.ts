// What the scenarios share: answers of the model, and how a difference is told.
import type { RunEvent, ToolEndEvent } from "../../src/sdk/index.ts";
import type { ModelAnswer } from "../../src/testing/kit/model-server.ts";
import type { Trial } from "./trial.ts";

/** Returns what is wrong, or nothing. */
export type Scenario = (trial: Trial) => Promise<string | undefined>;

export const calling = (...toolCalls: NonNullable<ModelAnswer["toolCalls"]>): ModelAnswer => ({ toolCalls });
export const done: ModelAnswer = { text: "Done." };

export function differs(checks: Record<string, [actual: unknown, expected: unknown]>): string | undefined {
  const wrong = Object.entries(checks).filter(([, [actual, expected]]) => !fits(actual, expected));
  if (wrong.length === 0) return undefined;
  return wrong.map(([name, [actual, expected]]) => `${name}: ${shown(actual)}, expected ${shown(expected)}`).join("; ");
}

function fits(actual: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof actual === "string" && expected.test(actual);
  return JSON.stringify(actual) === JSON.stringify(expected);
}

function shown(value: unknown): string {
  return value instanceof RegExp ? String(value) : (JSON.stringify(value)?.slice(0, 300) ?? "nothing");
}

export function endsIn(events: readonly RunEvent[]): ToolEndEvent[] {
  return events.flatMap((event) => (event.type === "tool_end" ? [event] : []));
}

/** A field of how the call ended; undefined: it was not told. */
export function told(end: ToolEndEvent | undefined, field: string): unknown {
  return (end?.outcome?.value as Record<string, unknown> | undefined)?.[field];
}
