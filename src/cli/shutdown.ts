// Ends a run from outside: signals, the time limit and a lost parent process trigger one abort signal, once. What stalls after
// that is killed, even if it keeps the main thread busy.
import type { Watchdog } from "../process/watchdog.ts";
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import { limitTime, timeSpent } from "../run/time-limit.ts";
import { errorLine, explainFailure } from "./failure.ts";
import { writeStderr } from "./stdout.ts";

export interface EndWatch {
  /** Ends at once. Called after the grace period, for a stalled reader, and for an uncaught error. */
  cut(error: unknown): void;
  /** Writes the result without waiting, when the main thread is stuck. Returns the exit code. */
  cutNow(error: UserError): number;
  /** The number of bytes the reader has taken while more are pending. */
  taken(): number | undefined;
  stop(): void;
}

/** How many milliseconds a run may take after a signal to end its tools and write its result. */
const usualGraceMs = 6000;
/** When a reader reads nothing for this many milliseconds, the exit does not wait for it. */
const stalledMs = 700;
/** Shorter runs need no watchdog, whose start costs milliseconds. A run with a time limit has one from the start. */
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

type ShutdownOptions = {
  env: NodeJS.ProcessEnv;
  /** Counts from the start of this process, whatever it waits for. */
  maxTimeMs?: number | undefined;
  /** The time limit that the watchdog enforces, if the run itself keeps to an earlier one. */
  watchedMs?: number | undefined;
  graceMs?: number;
  /** Called when the watchdog runs: see `startWatchdog`. */
  onWatched?(): void;
};

/** Calls `onGone` when the process that started this one has ended, if it asked for that. */
export function watchParent(env: NodeJS.ProcessEnv, onGone: () => void): NodeJS.Timeout | undefined {
  if (env["COURSER_EXIT_WITH_PARENT"] !== "1") return undefined;
  const parent = process.ppid;
  return setInterval(() => process.ppid !== parent && onGone(), 500);
}

export function handleShutdown(
  abort: AbortController,
  { env, maxTimeMs, watchedMs = maxTimeMs, graceMs = usualGraceMs, onWatched }: ShutdownOptions,
): EndWatch {
  const timers: NodeJS.Timeout[] = [];
  let isEnding = false;
  const end = (error: UserError) => {
    if (isEnding) return; // the first reason counts, and the exit is already limited in time: ignore a second signal
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
    // An update may have replaced the watchdog's file; the program then runs without a watchdog.
    const loaded = await import("../process/watchdog.ts").catch(() => undefined);
    if (isEnding || !loaded) return;
    watchdog = loaded.startWatchdog({
      deadline: watchedMs && Date.now() + watchedMs - process.uptime() * 1000,
      onStuck,
      onStarted: onWatched,
    });
  };
  if (watchedMs !== undefined) void startWatching();
  else timers.push(setTimeout(startWatching, watchdogAfterMs).unref());

  const parentTimer = watchParent(env, () =>
    end(new UserError("PARENT_GONE", "The program that started this run is gone.")),
  );
  if (parentTimer) timers.push(parentTimer.unref());
  const watch: EndWatch = {
    cut: (error) => {
      const { code, message } = explainFailure(error);
      if (!(error instanceof UserError)) writeStderr(errorLine(message, code));
      process.exit(exitCodeOf(code));
    },
    cutNow: (error) => exitCodeOf(error.code),
    taken: () => undefined,
    stop() {
      isEnding = true; // keep the signal handlers, so that a late signal does not change the exit code
      for (const timer of timers) clearTimeout(timer);
      watchdog?.stop();
    },
  };
  return watch;
}
