// What may end a run from outside: signals, its time limit and a vanished parent go through the one abort signal, once; what
// stalls then is cut, even where it keeps the main thread busy.
import type { Watchdog } from "../process/watchdog.ts";
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import { limitTime, timeSpent } from "../run/time-limit.ts";

export interface EndWatch {
  /** How to end at once: called after the grace period, for a stalled reader, and for a bug that throws where nobody waits. */
  cut(error: unknown): void;
  /** Says the result without waiting for anything, where the main thread is stuck. Returns the exit code. */
  cutNow(error: UserError): number;
  /** How much the reader has taken, while more waits for it. */
  taken(): number | undefined;
  stop(): void;
}

/** After a signal the run may still end its tools and say its result. */
const usualGraceMs = 6000;
/** If somebody hears it: a reader that takes nothing in this time is not waited for. */
const stalledMs = 700;
/** A run that is over before this needs no watchdog, whose start costs milliseconds. One with a time limit has it from the start. */
const watchdogAfterMs = 400;

const signals: Record<string, UserError> = {
  SIGINT: new UserError("INTERRUPTED", "The run was interrupted (SIGINT)."),
  SIGTERM: new UserError("TERMINATED", "The run was terminated (SIGTERM)."),
  SIGHUP: new UserError("TERMINATED", "The run was terminated (SIGHUP)."),
  SIGQUIT: new UserError("TERMINATED", "The run was terminated (SIGQUIT)."),
};

const neverAnswered = new UserError(
  "INTERNAL",
  "The program computed without an end, and did not respond: it was stopped.",
);

/** `maxTimeMs`: counted from the start of this process, whatever it waits for. */
export function watchForTheEnd(
  abort: AbortController,
  { env, maxTimeMs, graceMs = usualGraceMs }: { env: NodeJS.ProcessEnv; maxTimeMs?: number; graceMs?: number },
): EndWatch {
  const timers: NodeJS.Timeout[] = [];
  let isEnding = false;
  const end = (error: UserError) => {
    if (isEnding) return; // one reason is enough, and the end is bounded: a second signal changes nothing
    isEnding = true;
    const before = watch.taken();
    timers.push(
      setTimeout(() => before !== undefined && watch.taken() === before && watch.cut(error), stalledMs),
      setTimeout(() => watch.cut(error), graceMs),
    );
    abort.abort(error);
  };
  for (const [name, error] of Object.entries(signals)) process.on(name, () => end(error));
  process.on("uncaughtException", (error) => watch.cut(error));
  const spentMs = process.uptime() * 1000;
  if (maxTimeMs !== undefined) timers.push(limitTime(maxTimeMs, end, { spentMs }));

  const onStuck = () => {
    const isSpent = maxTimeMs !== undefined && process.uptime() * 1000 > maxTimeMs;
    const { aborted, reason } = abort.signal;
    if (aborted && reason instanceof UserError) process.exit(watch.cutNow(reason));
    process.exit(watch.cutNow(isSpent ? timeSpent(maxTimeMs) : neverAnswered));
  };
  let watchdog: Watchdog | undefined;
  const startWatching = async () => {
    const { startWatchdog } = await import("../process/watchdog.ts");
    if (isEnding) return;
    watchdog = startWatchdog({ deadline: maxTimeMs && Date.now() + maxTimeMs - process.uptime() * 1000, onStuck });
  };
  if (maxTimeMs !== undefined) void startWatching();
  else timers.push(setTimeout(startWatching, watchdogAfterMs).unref());

  if (env["COURSER_EXIT_WITH_PARENT"] === "1") {
    const parent = process.ppid;
    const look = () => {
      if (process.ppid !== parent) end(new UserError("PARENT_GONE", "The program that started this run is gone."));
    };
    timers.push(setInterval(look, 500).unref());
  }
  const watch: EndWatch = {
    cut: (error) => process.exit(error instanceof UserError ? exitCodeOf(error.code) : 1),
    cutNow: (error) => exitCodeOf(error.code),
    taken: () => undefined,
    stop() {
      isEnding = true; // all is said: the listeners stay, so that a late signal does not take the exit code away
      for (const timer of timers) clearTimeout(timer);
      watchdog?.stop();
    },
  };
  return watch;
}
