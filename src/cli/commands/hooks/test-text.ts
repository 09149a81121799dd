// What a trial of hooks showed, in words.
import type { HookAnswer } from "../../../agent/hooks/index.ts";
import type { JsonObject } from "../../../json/object.ts";
import { type HookEffect, type HookEventName, hookEvents } from "../../../protocol/hook-events.ts";
import { printable } from "../../call-line.ts";
import { type HooksContext, shownFile } from "./context.ts";
import type { TriedHook } from "./test.ts";
import { brief } from "./trace.ts";

/** What a run would make of all answers together. */
export type EffectText = { effect: string; happens: string } & Partial<HookAnswer>;

export function outcomeOf(event: HookEventName, answer: HookAnswer): EffectText {
  const { effect } = hookEvents[event];
  return { effect, happens: effects[effect](answer), ...answer };
}

const effects: Record<HookEffect, (answer: HookAnswer) => string> = {
  permit({ permission, reasons, updatedInput }) {
    const changed = updatedInput ? ` with other arguments: ${JSON.stringify(updatedInput)}` : "";
    const told = reasons.length > 0 ? ` The model is told: ${reasons.join(" ")}` : "";
    if (permission === "deny") return `It is refused.${told}`;
    if (permission === "ask") return "A person is asked; in print mode it is refused.";
    return `It continues${changed}, if the permissions allow it.`;
  },
  prompt({ permission, messages, reasons }) {
    if (permission === undefined || permission === "allow") return "The prompt is sent.";
    return `The prompt is stopped. ${[...new Set([...messages, ...reasons])].join(" ")}`.trimEnd();
  },
  context: ({ context }) => (context.length > 0 ? `The model is told: ${context.join(" ")}` : "Nothing changes."),
  followup: ({ followup }) => (followup === undefined ? "The run ends." : `The run continues with: ${followup}`),
  observe: () => "Nothing changes: hooks of this event only observe.",
};

type TestReport = {
  event: HookEventName;
  sample: boolean;
  fields: JsonObject;
  tried: readonly TriedHook[];
  outcome: EffectText;
  context: HooksContext;
};

export function testText({ event, sample, fields, tried, outcome, context }: TestReport): string {
  const payload = sample ? `${event} with a sample: ${brief(JSON.stringify(fields))}` : `${event} with your payload`;
  if (tried.length === 0) return `${payload}\nNo hook is set up for ${event} here.\n`;
  const rows = tried.flatMap((each) => rowsOf(each, context));
  return `${[payload, ...rows, `→ ${outcome.happens}`].map(printable).join("\n")}\n`;
}

function rowsOf({ hook, why, line, end, warnings }: TriedHook, context: HooksContext): string[] {
  const what = brief(hook.command ?? `asks a model: ${hook.prompt}`);
  const where = `    ${shownFile(hook.file, context)} ${hook.entry}`;
  if (!line) return [`- ${what}`, where, `    not asked: ${why}`];
  const exit = line.exit === null || line.exit === 0 ? "" : `, exit code ${line.exit}`;
  // What the bridge could not carry over stands on stderr.
  const losses = (end?.stderr ?? "").split("\n").filter((text) => text.trim() !== "");
  return [
    `${line.answer === "failed" ? "✗" : "✓"} ${what}`,
    where,
    `    ${line.answer}, ${line.ms} ms${exit}${line.note === "" ? "" : `: ${brief(line.note)}`}`,
    ...losses.slice(0, 10).map((text) => `    stderr: ${brief(text)}`),
    ...warnings.filter((text) => !line.note.includes(text)).map((text) => `    ${brief(text)}`),
  ];
}
