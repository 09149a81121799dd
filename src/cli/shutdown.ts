// What may end a run from outside: signals and a vanished parent go through the one abort signal, once; what stalls then is cut.
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";

export interface EndWatch {
  /** How to end at once: called after the grace period, at a second signal, and for a bug that throws where nobody waits. */
  cut(error: unknown): void;
  stop(): void;
}

/** After a signal the run may still end its tools and say its result. */
const graceMs = 3500;

export function watchForTheEnd(abort: AbortController, env: NodeJS.ProcessEnv): EndWatch {
  let grace: NodeJS.Timeout | undefined;
  let parentWatch: NodeJS.Timeout | undefined;
  const end = (error: UserError) => {
    if (grace) return watch.cut(error); // asked twice: no more patience
    grace = setTimeout(() => watch.cut(error), graceMs);
    abort.abort(error);
  };
  const handlers: Record<string, (error: unknown) => void> = {
    SIGINT: () => end(new UserError("INTERRUPTED", "The run was interrupted (SIGINT).")),
    SIGTERM: () => end(new UserError("TERMINATED", "The run was terminated (SIGTERM).")),
    SIGHUP: () => end(new UserError("TERMINATED", "The run was terminated (SIGHUP).")),
    uncaughtException: (error) => watch.cut(error),
  };
  for (const [name, handler] of Object.entries(handlers)) process.on(name, handler);

  if (env["COURSER_EXIT_WITH_PARENT"] === "1") {
    const parent = process.ppid;
    parentWatch = setInterval(() => {
      if (process.ppid !== parent && !grace)
        end(new UserError("PARENT_GONE", "The program that started this run is gone."));
    }, 500);
    parentWatch.unref();
  }
  const watch: EndWatch = {
    cut: (error) => process.exit(error instanceof UserError ? exitCodeOf(error.code) : 1),
    stop() {
      clearTimeout(grace);
      clearInterval(parentWatch);
      for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
    },
  };
  return watch;
}
