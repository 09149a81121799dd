// Waits until a program waits for its input: from then on it answers signals as it means to.
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Its stdin, a pipe, is among the descriptors that it polls, as /proc shows; where there is none, after a moment. */
export async function untilItReads({ pid }: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (existsSync("/proc/self/fdinfo") ? pollsStdin(pid!) : tries > 25) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function pollsStdin(pid: number): boolean {
  const folder = `/proc/${pid}/fdinfo`;
  try {
    return readdirSync(folder).some((name) => /^tfd:\s+0\s/m.test(readFileSync(`${folder}/${name}`, "utf8")));
  } catch {
    return false;
  }
}
