// What tests of processes look at: who is alive, what is open, who waits to be buried.
import { readdirSync, readFileSync } from "node:fs";

/** A number of seconds that no other process sleeps: finds the sleepers of one test again. */
export function uniqueSleep(): string {
  return `${600 + Math.floor(Math.random() * 300)}.${Math.random().toString().slice(2, 11)}`;
}

/** Living processes whose command line holds the text. */
export function aliveWith(text: string): number[] {
  // Few have it, and only these are looked at twice: tests ask often, while many processes run.
  return processIds().filter((pid) => read(`/proc/${pid}/cmdline`).includes(text) && isAlive(pid));
}

/** Living processes that have a variable of this name, except this one. */
export function aliveMarked(mark: string): number[] {
  return processIds().filter(
    (pid) => pid !== process.pid && read(`/proc/${pid}/environ`).includes(`${mark}=`) && isAlive(pid),
  );
}

export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/** Children of this process that ended and were not waited for. */
export function zombies(): number {
  return processIds().filter((pid) => new RegExp(`\\) Z ${process.pid} `).test(read(`/proc/${pid}/stat`))).length;
}

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Asks again after a while that is long beside what asking takes, so that those who wait leave the machine to what they wait for. */
export async function until(holds: () => boolean, limitMs = 5000): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const asked = performance.now();
    if (holds()) return true;
    const now = performance.now();
    if (now > deadline) return false;
    const pause = Math.min(Math.max(20, 10 * (now - asked)), 200);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

export function isValidText(text: string): boolean {
  return Buffer.from(text, "utf8").toString("utf8") === text && !/\p{Surrogate}/u.test(text);
}

function processIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Boolean);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
