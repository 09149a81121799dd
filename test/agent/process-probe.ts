// Runs one process case in a Node of its own, so that memory, lag and descriptors are those of the agent alone.
// argv: a JSON job, and the file that gets what was seen.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessRunner, toolEnvironment } from "../../src/agent/process.ts";
import { RunningCli } from "../../src/sdk/child.ts";
import { aliveMarked, isValidText, openDescriptors, zombies } from "./process-support.ts";

export type ProbeJob = {
  /** Through which of the two spawners. "many": short commands, one after the other and side by side. */
  through: "tools" | "cli" | "many";
  command: string[];
  cwd: string;
  /** A variable of this name marks all descendants, for the count of survivors. */
  mark: string;
  env?: Record<string, string>;
  timeoutMs?: number;
  idleMs?: number;
  graceMs?: number;
  /** The child hears `cancel` on its stdin. */
  listens?: boolean;
  count?: number;
};

export type Seen = {
  exit?: number | null;
  killedBy?: string | null;
  stages?: string[];
  stdout?: string;
  stderr?: string;
  truncated?: boolean;
  spilledBytes?: number;
  totalBytes?: number;
  timedOut?: boolean;
  errorCode?: string;
  message?: string;
  validUtf8?: boolean;
  hasTerminal?: boolean;
  ms: number;
  lagMs: number;
  maxRssMb: number;
  orphans: number;
  zombies: number;
  descriptorGrowth: number;
};

const [, , text, file] = process.argv;
const job = JSON.parse(text!) as ProbeJob;
const folder = mkdtempSync(join(tmpdir(), "courser-probe-"));
const runner = createProcessRunner();
const env = { ...job.env, [job.mark]: "1" };

const lag = watchLag();
const descriptors = openDescriptors();
const startedAt = performance.now();
const seen = await { tools: throughTools, cli: throughCli, many }[job.through]();
const ms = performance.now() - startedAt;
const lagMs = lag.end();
const all: Seen = {
  ...seen,
  ms,
  lagMs,
  maxRssMb: process.resourceUsage().maxRSS / 1024,
  orphans: aliveMarked(job.mark).length,
  zombies: zombies(),
  descriptorGrowth: openDescriptors() - descriptors,
};
rmSync(folder, { recursive: true, force: true });
writeFileSync(file!, JSON.stringify(all));

/** The longest time that timers had to wait for this program: not for a processor, which others of a busy machine may have. */
function watchLag(): { end(): number } {
  const stepMs = 10;
  let [last, waited, longest] = [performance.now(), waitedForProcessor(), 0];
  const look = () => {
    const [now, waitedNow] = [performance.now(), waitedForProcessor()];
    longest = Math.max(longest, now - last - stepMs - (waitedNow - waited));
    [last, waited] = [now, waitedNow];
  };
  const timer = setInterval(look, stepMs);
  return {
    end() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

/** Milliseconds that the main thread was ready and had no processor, as far as the system tells. */
function waitedForProcessor(): number {
  try {
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

async function throughTools(): Promise<Partial<Seen>> {
  const spillTo = join(folder, "output");
  const { timeoutMs, graceMs, cwd, command } = job;
  const process = runner.start({
    command,
    cwd,
    env: { ...toolEnvironment(globalThis.process.env), ...env },
    timeoutMs,
    graceMs,
    keepBytes: 40_000,
    spillTo,
  });
  const hasTerminal = ownsTerminal(process.pid);
  try {
    const end = await process.ended;
    return {
      exit: end.exitCode,
      killedBy: end.signal || null,
      stages: end.stages,
      stdout: end.stdout,
      stderr: end.stderr,
      truncated: end.truncated,
      totalBytes: end.totalBytes,
      timedOut: end.timedOut,
      spilledBytes: end.spilledTo === undefined ? 0 : statSync(end.spilledTo).size,
      validUtf8: isValidText(JSON.stringify(end)) && isValidText(end.stdout + end.stderr + end.interleaved),
      hasTerminal,
    };
  } catch (error) {
    return { errorCode: (error as { code?: string }).code ?? "none", message: (error as Error).message };
  }
}

async function throughCli(): Promise<Partial<Seen>> {
  const { timeoutMs, idleMs, graceMs, cwd } = job;
  const [command, ...args] = job.command as [string, ...string[]];
  // What a case calls its child is not an agent: its lines are passed over.
  const parser = { onNoise: "skip" } as const;
  const turn = job.listens ? { turn: { type: "turn" } } : {};
  const cli = new RunningCli({ command, args, cwd, env, timeoutMs, idleMs, graceMs, parser, ...turn });
  const hasTerminal = ownsTerminal(cli.pid);
  for await (const _frame of cli.frames);
  const end = await cli.ended;
  const notStarted = end.error?.code === "CLI_NOT_FOUND" || end.error?.code === "CWD_MISSING";
  return {
    exit: end.exitCode,
    killedBy: end.signal || null,
    stages: end.stages,
    stderr: end.stderr,
    hasTerminal,
    timedOut: end.error?.code === "CLI_TIMEOUT",
    ...(notStarted && { errorCode: end.error!.code, message: end.error!.message }),
  };
}

async function many(): Promise<Partial<Seen>> {
  const count = job.count ?? 200;
  const together = 8;
  for (let done = 0; done < count; done += together) {
    await Promise.all(
      Array.from({ length: Math.min(together, count - done) }, () =>
        // One that cannot be started leaves nothing behind either.
        runner
          .run({ command: job.command, cwd: job.cwd, env: { ...toolEnvironment(globalThis.process.env), ...env } })
          .catch(() => {}),
      ),
    );
  }
  return { exit: 0 };
}

/** The seventh field of stat is the number of the controlling terminal; 0 is none. */
function ownsTerminal(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4] !== "0";
  } catch {
    return false;
  }
}
