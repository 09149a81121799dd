// What is still running when this process ends goes with it.
import type { ProcessTree } from "./tree.ts";

// One listener for all, since Node warns of an eleventh. A process that is killed outright cannot do this: then its
// children must notice by themselves.
const running = new Set<ProcessTree>();
const endRunning = () => {
  for (const tree of running) tree.endNow();
};

export function endWithThisProcess(tree: ProcessTree): void {
  if (running.size === 0) process.once("exit", endRunning);
  running.add(tree);
}

/** It has ended. */
export function forget(tree: ProcessTree): void {
  running.delete(tree);
  if (running.size === 0) process.removeListener("exit", endRunning);
}
