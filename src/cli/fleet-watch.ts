// Ends a command that waits for a fleet, whatever state its connection is in, when the fleet is unreachable for too long or the
// parent process is gone. Both are reported first.
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { Fleet } from "../serve/fleet.ts";
import { duration } from "../view/numbers.ts";
import { watchParent } from "./shutdown.ts";
import { writeStderr } from "./stdout.ts";

/** Outages shorter than this many milliseconds are not reported. */
const sayAfterMs = 2000;
/** How many milliseconds a command may take to save its results after it was told to end. */
export const windUpMs = 1500;

export type FleetWatch = {
  /** Aborted when the command must end. The reason is a UserError. */
  readonly signal: AbortSignal;
  /** Settles like the work, or rejects with the abort reason if the work does not end in time. */
  bound<T>(work: Promise<T>): Promise<T>;
  stop(): void;
};

export type FleetWatchOptions = {
  /** The address of the fleet, without credentials. */
  where: string;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
};

export function watchFleet(fleet: Fleet, { where, timeoutMs, env }: FleetWatchOptions): FleetWatch {
  const abort = new AbortController();
  let timers: NodeJS.Timeout[] = [];
  let isReported = false;
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
      if (isReported) writeStderr("The fleet is reached again.\n");
      isReported = false;
      return;
    }
    const say = () => {
      isReported = true;
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
  const parentTimer = watchParent(env, () =>
    end(new UserError("PARENT_GONE", "The program that started this command is gone.")),
  );
  return {
    signal: abort.signal,
    bound: (work) =>
      new Promise((resolve, reject) => {
        work.then(resolve, reject);
        abort.signal.addEventListener("abort", () => setTimeout(() => reject(abort.signal.reason), windUpMs));
      }),
    stop() {
      forget();
      clearInterval(parentTimer);
    },
  };
}

/** Exits shortly after a signal, unless the command ends earlier. */
export function endSoon(code: "INTERRUPTED" | "TERMINATED"): void {
  setTimeout(() => process.exit(exitCodeOf(code)), windUpMs).unref();
}
