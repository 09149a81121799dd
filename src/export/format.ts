// Formats prompts, times, durations and token counts for exports.
import type { Usage } from "../protocol/event.ts";
import { shortened } from "../text/one-line.ts";

/** Returns how long a turn took, and what it used. */
export function aboutTurn({ durationMs, usage }: { durationMs: number; usage?: Usage }): string[] {
  return [...(durationMs > 0 ? [durationText(durationMs)] : []), ...(usage ? [tokensText(usage)] : [])];
}

export function firstLine(text: string, most = 80): string {
  const line =
    text
      .split("\n")
      .find((each) => each.trim() !== "")
      ?.trim() ?? "";
  return shortened(line, most);
}

/** Formats a duration: 950 ms, 12.3 s, 4 min 5 s. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.max(60, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats in UTC, so that an export is the same wherever it is made. */
export function timeText(at: number): string {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return "";
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export function tokensText(usage: Usage): string {
  const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const cached = usage.cacheReadTokens > 0 ? ` (${groupDigits(usage.cacheReadTokens)} from the cache)` : "";
  return `${groupDigits(read)} in${cached}, ${groupDigits(usage.outputTokens)} out`;
}

function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
