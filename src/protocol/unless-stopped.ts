// The last check before an effect. Code that is about to change something calls this after everything it had to wait for: hooks,
// questions, snapshots, its place in a queue. The signal decides.

/** The text of a call that never started: in the stream, in the chat and for the model. */
export const notRun = "Not run: the turn was stopped.";

export class NotRun extends Error {
  constructor() {
    super(notRun);
    this.name = "NotRun";
  }
}

/** Starts the work synchronously, or throws NotRun without starting it. */
export function unlessStopped<Result>(signal: AbortSignal | undefined, work: () => Result): Result {
  if (signal?.aborted) throw new NotRun();
  return work();
}
