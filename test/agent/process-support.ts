// What tests of processes look at: who is alive, what is open, who waits to be buried.
import { readdirSync, readFileSync } from "node:fs";

/** A number of seconds that no other process sleeps: finds the sleepers of one test again. */
export function uniqueSleep(): string {
  return `${600 + Math.floor(Math.random() * 300)}.${Math.random().toString().slice(2, 11)}`;
}

/** Living processes whose command line holds the text. */
export function aliveWith(text: string): number[] {
  return processIds().filter((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    return !/\) [ZX] /.test(stat) && read(`/proc/${pid}/cmdline`).includes(text);
  });
}

/** Living processes that have a variable of this name, except this one. */
export function aliveMarked(mark: string): number[] {
  return processIds().filter(
    (pid) => pid !== process.pid && isAlive(pid) && read(`/proc/${pid}/environ`).includes(`${mark}=`),
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

export async function until(holds: () => boolean, limitMs = 5000): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

export function isValidText(text: string): boolean {
  return Buffer.from(text, "utf8").toString("utf8") === text && !/\p{Surrogate}/u.test(text);
}

function processIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Boolean);
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
