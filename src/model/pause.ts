// Waits until a time has passed or the request is cancelled.
import { ModelError } from "./provider.ts";

/** Rejects with INTERRUPTED if the signal is or becomes aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(interrupted(signal));
    const stop = (): void => {
      clearTimeout(timer);
      reject(interrupted(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

export function interrupted(signal: AbortSignal): ModelError {
  return new ModelError("INTERRUPTED", "The request was cancelled.", { cause: signal.reason });
}
