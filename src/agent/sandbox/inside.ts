// Finds and signals the processes of a sandboxed command from outside: bubblewrap itself would die of a signal without passing it on.
import { readFileSync } from "node:fs";
import { tryOr } from "../../text/try-or.ts";

/** Sends a signal to everything inside; returns false if nothing is alive there. `pid` is the bubblewrap that was started. */
export function signalInside(pid: number, name: NodeJS.Signals): boolean {
  const inside = processesInside(pid, Number.POSITIVE_INFINITY).filter(isAlive);
  for (const each of inside) kill(each, name);
  return inside.length > 0;
}

const everyMs = 50;

/** Kills everything once there are more than `most` processes inside. For root, whom the system's own limit does not bind. */
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

/** Stops counting once there are more than `most`. */
function processesInside(pid: number, most: number): number[] {
  // The child of bubblewrap is the namespace's first process, bubblewrap again; the command is a child of that.
  const inside = childrenOf(pid).flatMap(childrenOf);
  for (let next = 0; next < inside.length && inside.length <= most; next++) inside.push(...childrenOf(inside[next]!));
  return inside;
}

function childrenOf(pid: number): number[] {
  return tryOr(
    () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    [],
  );
}

/** Zombies stay listed until their parent reaps them, and the parent may be stopped. */
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
    // The process has already ended.
  }
}
