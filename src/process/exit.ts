// Ends all running children when this process exits.

type Running = { endNow(): void };

// One listener for all children, since Node warns about an eleventh. If this process is killed outright, the guard ends them instead.
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

/** Stops tracking a child that has ended. */
export function forget(each: Running): void {
  running.delete(each);
  if (running.size === 0) process.removeListener("exit", endRunning);
}
