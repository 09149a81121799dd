// Ends all running children when this process exits.

type Running = { endNow(): void };

// The children that are running. One exit listener serves all of them, since Node warns about more than ten.
const running = new Set<Running>();
const endRunning = () => {
  for (const each of running) {
    try {
      each.endNow();
    } catch {
      // The error cannot be reported any more, and the remaining children must still be ended.
    }
  }
};

export function endWithThisProcess(each: Running): void {
  if (running.size === 0) process.once("exit", endRunning);
  running.add(each);
}

/** Stops tracking a child process that has ended. */
export function forget(each: Running): void {
  running.delete(each);
  if (running.size === 0) process.removeListener("exit", endRunning);
}
