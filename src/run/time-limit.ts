// Limits the time that a run may take.
import { UserError } from "../protocol/error-codes.ts";

/** Calls `onSpent` when the time is used up (`spentMs` have passed). The timer does not keep the process running. */
export function limitTime(
  limitMs: number,
  onSpent: (error: UserError) => void,
  { spentMs = 0 }: { spentMs?: number } = {},
): NodeJS.Timeout {
  const spent = timeSpent(limitMs);
  // Node's timers are limited to 24 days, so a longer limit takes several.
  return setTimeout(() => onSpent(spent), Math.min(limitMs - spentMs, 2 ** 31 - 1)).unref();
}

export function timeSpent(limitMs: number): UserError {
  return new UserError("MAX_TIME", `The run reached its limit of ${shownTime(limitMs)}. Raise it with --max-time.`);
}

function shownTime(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}
