// What ends a command that waits for a fleet, whatever its connection does: a fleet that cannot be reached for too long, and a parent that
// is gone. Both are said first.
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { Fleet } from "../serve/fleet.ts";
import { duration } from "../view/numbers.ts";
import { writeStderr } from "./stdout.ts";

/** A moment without a connection is not worth a word. */
const sayAfterMs = 2000;
/** A command that was told to end may still write down what it knows for so long. */
export const windUpMs = 1500;

export type FleetWatch = {
  /** Aborted when the command is to end: its reason is a UserError. */
  readonly signal: AbortSignal;
  /** What the work gives, or why it was ended, where it did not end by itself in time. */
  bound<T>(work: Promise<T>): Promise<T>;
  stop(): void;
};

export type FleetWatchOptions = {
  /** The address, without who logs in. */
  where: string;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
};

export function watchFleet(fleet: Fleet, { where, timeoutMs, env }: FleetWatchOptions): FleetWatch {
  const abort = new AbortController();
  let timers: NodeJS.Timeout[] = [];
  let isTold = false;
  const forget = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  const end = (error: UserError) => {
    forget();
    abort.abort(error);
  };
  fleet.onReach((isReached) => {
    forget();
    if (abort.signal.aborted) return;
    if (isReached) {
      if (isTold) writeStderr("The fleet is reached again.\n");
      isTold = false;
      return;
    }
    const say = () => {
      isTold = true;
      writeStderr(
        `The fleet at ${where} cannot be reached. Trying for another ${duration(timeoutMs)}; Ctrl+C stops.\n`,
      );
    };
    const why = `The fleet at ${where} could not be reached for ${duration(timeoutMs)}. Runs that have begun may have gone on. To wait longer: ?timeout=SECONDS behind the address.`;
    timers = [
      setTimeout(say, Math.min(sayAfterMs, timeoutMs / 2)),
      setTimeout(() => end(new UserError("FLEET_UNREACHABLE", why)), timeoutMs),
    ];
  });
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) end(new UserError("PARENT_GONE", "The program that started this command is gone."));
  };
  const looking = env["COURSER_EXIT_WITH_PARENT"] === "1" ? setInterval(look, 500) : undefined;
  return {
    signal: abort.signal,
    bound: (work) =>
      new Promise((resolve, reject) => {
        work.then(resolve, reject);
        abort.signal.addEventListener("abort", () => setTimeout(() => reject(abort.signal.reason), windUpMs));
      }),
    stop() {
      forget();
      clearInterval(looking);
    },
  };
}

/** After a signal: what does not end by itself is cut. */
export function endSoon(code: "INTERRUPTED" | "TERMINATED"): void {
  setTimeout(() => process.exit(exitCodeOf(code)), windUpMs).unref();
}
