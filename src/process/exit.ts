// What is still running when this process ends goes with it.

type Running = { endNow(): void };

// One listener for all, since Node warns of an eleventh. A process that is killed outright cannot do this: then the guard does.
const running = new Set<Running>();
const endRunning = () => {
  for (const each of running) {
    try {
      each.endNow();
    } catch {
      // Nobody is left to hear of it, and the others must end all the same.
    }
  }
};

export function endWithThisProcess(each: Running): void {
  if (running.size === 0) process.once("exit", endRunning);
  running.add(each);
}

/** It has ended. */
export function forget(each: Running): void {
  running.delete(each);
  if (running.size === 0) process.removeListener("exit", endRunning);
}
