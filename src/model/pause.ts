// Waits until a time has passed or the request is cancelled.
import { orAborted } from "../net/or-aborted.ts";
import { ModelError } from "./provider.ts";

/** Rejects with INTERRUPTED if the signal is or becomes aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  const ending = orAborted(passed, signal).catch(() => Promise.reject(interrupted(signal)));
  return ending.finally(() => clearTimeout(timer));
}

export function interrupted(signal: AbortSignal): ModelError {
  return new ModelError("INTERRUPTED", "The request was cancelled.", { cause: signal.reason });
}
