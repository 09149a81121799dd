// The one place between "may" and "does". Whoever is about to change something asks here, after everything that had to be
// waited for: hooks, questions, snapshots, a turn in a queue. The signal answers.

/** What a call that never began says of itself: in the stream, in the chat and to the model. */
export const notRun = "Not run: the turn was stopped.";

export class NotRun extends Error {
  constructor() {
    super(notRun);
    this.name = "NotRun";
  }
}

/** Begins the work in the same moment in which it is asked, or throws NotRun and nothing of it begins. */
export function unlessStopped<Result>(signal: AbortSignal | undefined, work: () => Result): Result {
  if (signal?.aborted) throw new NotRun();
  return work();
}
