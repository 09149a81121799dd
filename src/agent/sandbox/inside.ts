// The processes of a command in the sandbox, seen from outside: bubblewrap itself would die of a signal without passing it on.
import { readFileSync } from "node:fs";

/** Sends a signal to everything inside; false when nothing there can hear it. `pid`: the bubblewrap that was started. */
export function signalInside(pid: number, name: NodeJS.Signals): boolean {
  const inside = processesInside(pid, Number.POSITIVE_INFINITY).filter(isAlive);
  for (const each of inside) kill(each, name);
  return inside.length > 0;
}

const everyMs = 50;

/** Ends everything once there are more processes inside than `most`. For root, whom the system's own limit does not hold. */
export function watchInside(pid: number, most: number): { stop(): void; readonly hasEnded: boolean } {
  let hasEnded = false;
  const timer = setInterval(() => {
    if (processesInside(pid, most).length <= most) return;
    hasEnded = true;
    clearInterval(timer);
    kill(pid, "SIGKILL");
  }, everyMs);
  timer.unref();
  return {
    stop: () => clearInterval(timer),
    get hasEnded() {
      return hasEnded;
    },
  };
}

/** At most one more than `most`, which is all that anybody wants to know. */
function processesInside(pid: number, most: number): number[] {
  // Its child is the first process of the namespace, bubblewrap again; the command is a child of that.
  const inside = childrenOf(pid).flatMap(childrenOf);
  for (let next = 0; next < inside.length && inside.length <= most; next++) inside.push(...childrenOf(inside[next]!));
  return inside;
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The dead are listed until their parent has noticed, which may itself be stopped. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

function kill(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}
