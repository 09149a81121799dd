// Waits for an AbortSignal, which fires no event if it has already aborted.

/** Calls the function when the signal aborts, or at once if it already has. Returns a function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal?.aborted) call();
  else signal?.addEventListener("abort", call, { once: true });
  return () => signal?.removeEventListener("abort", call);
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve));
}
