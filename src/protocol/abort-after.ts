// abortAfter: a signal that aborts after a time.

/**
 * Like AbortSignal.timeout, but with a timer that Node cannot collect as garbage: Node may drop a timeout to which only
 * AbortSignal.any refers.
 */
export function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const end = () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  setTimeout(end, ms).unref();
  return controller.signal;
}
