// abortAfter: a signal that aborts after a time.

/** Like AbortSignal.timeout, but its timer keeps it: Node may drop one to which only AbortSignal.any refers, and the limit with it. */
export function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const end = () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  setTimeout(end, ms).unref();
  return controller.signal;
}
