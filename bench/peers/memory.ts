// The memory of a process and all that it started, at its highest: what is shared counts once (PSS). Linux only.
import { readdirSync, readFileSync } from "node:fs";

const everyMs = 15;

export function peakOfTree(pid: number): { end(): number | undefined } {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, kilobytesOf(pid));
  }, everyMs);
  return {
    end() {
      clearInterval(timer);
      return most === 0 ? undefined : most / 1024;
    },
  };
}

function kilobytesOf(pid: number): number {
  try {
    const own = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return children.reduce((sum, child) => sum + kilobytesOf(child), own);
  } catch {
    return 0; // it has ended
  }
}
