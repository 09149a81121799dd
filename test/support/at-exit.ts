// What a test or a long script has started and made goes with it, however it ends: by itself, by an error, by a signal, killed.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { guardChild, nextMark } from "../../src/process/guard.ts";

const cleaners = new Set<() => void>();
const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** `clean` is called as this process ends, unless what comes back was called before. */
export function atExit(clean: () => void): () => void {
  if (cleaners.size === 0) {
    process.on("exit", cleanAll);
    for (const signal of signals) process.on(signal, endBy);
  }
  cleaners.add(clean);
  return () => {
    if (!cleaners.delete(clean) || cleaners.size > 0) return;
    process.off("exit", cleanAll);
    for (const signal of signals) process.off(signal, endBy);
  };
}

/** A child that does not outlive this process, also where that is killed. */
export function spawnOwned(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const env = { ...(options.env ?? process.env), [nextMark()]: "1" };
  const child = spawn(command, args, { ...options, env });
  if (child.pid === undefined) return child;
  const unguard = guardChild(child.pid, { leadsGroup: false });
  const forget = atExit(() => child.kill("SIGKILL"));
  child.once("exit", () => {
    unguard();
    forget();
  });
  return child;
}

/** Ends every process that has this home or one inside of it, whoever started it. */
export function killAllWithHome(home: string): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${home}`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended, or is not ours.
    }
  }
}

function cleanAll(): void {
  // Those who use a folder go before the folder.
  for (const clean of [...cleaners].reverse()) {
    try {
      clean();
    } catch {
      // The others must be cleaned up all the same.
    }
  }
}

/** As if nobody had listened, but clean. */
function endBy(signal: NodeJS.Signals): void {
  cleanAll();
  process.off(signal, endBy);
  process.kill(process.pid, signal);
}
