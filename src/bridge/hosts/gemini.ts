// Gemini CLI's hooks, as of 0.61: Claude's payloads under other event names, and one place for every decision.
import { hookEvents } from "../../protocol/hook-events.ts";
import type { HookName } from "../event.ts";
import { claudeFormat } from "./claude-format.ts";

/** Gemini's names of the events that it has. */
export const geminiEvents = Object.fromEntries(
  Object.values(hookEvents).flatMap(({ gemini: name, claude }) => (name && claude ? [[name, claude]] : [])),
) as Record<string, HookName>;

/** Parses and answers hook calls of Gemini CLI. */
export const gemini = claudeFormat({
  name: "gemini",
  events: geminiEvents,
  asks: true,
  allows: true,
  changesRequests: false,
  plainDecisions: true,
});
