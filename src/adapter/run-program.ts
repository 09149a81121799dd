// Runs one program to its end: bounded in time and memory, and nothing of it is left behind.
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { endWithThisProcess, forget } from "../process/exit.ts";
import { spawnInOwnSession, spawnProblem } from "../process/spawn.ts";
import { happensWithin, type Stage, stopInStages } from "../process/stages.ts";
import { newMark, ProcessTree } from "../process/tree.ts";

export type ProgramRequest = {
  command: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Record<string, string | undefined>;
  /** Its stdin. "keepOpen": it is not ended, as if more might come. Default: empty. */
  input?: string;
  keepOpen?: boolean;
  timeoutMs: number;
  /** Shared by the stages of a stop. */
  graceMs?: number;
  signal?: AbortSignal;
  /** Most bytes kept of each stream. */
  keepBytes?: number;
};

export type ProgramEnd = {
  exitCode: number | null;
  signal: string;
  stdout: Buffer;
  stderr: string;
  /** More was said than was kept. */
  isCut: boolean;
  timedOut: boolean;
  cancelled: boolean;
  stages: Stage[];
  durationMs: number;
  /** It could not be started: why. */
  problem?: string;
};

const usualGraceMs = 2000;
const usualKeepBytes = 1024 * 1024;
/** What grandchildren may still have to say after the exit. */
const drainMs = 250;

export async function runProgram(request: ProgramRequest): Promise<ProgramEnd> {
  const { command, cwd, env, input, signal, keepBytes = usualKeepBytes } = request;
  const startedAt = performance.now();
  const stdout = new BoundedBytes(keepBytes);
  const stderr = new BoundedBytes(keepBytes);
  const stages: Stage[] = [];
  const state = { timedOut: false, cancelled: signal?.aborted === true };
  const end = (exit: { exitCode: number | null; signal: string }, problem?: string): ProgramEnd => ({
    ...exit,
    ...state,
    stdout: stdout.isCut ? Buffer.from(stdout.text()) : stdout.bytes(),
    stderr: stderr.text(),
    isCut: stdout.isCut || stderr.isCut,
    stages,
    durationMs: Math.round(performance.now() - startedAt),
    ...(problem !== undefined && { problem }),
  });
  const noExit = { exitCode: null, signal: "" };
  if (state.cancelled) return end(noExit);

  const mark = newMark();
  const explain = (error: unknown) => spawnProblem(error, command[0]!, cwd)?.message ?? (error as Error).message;
  let child: ReturnType<typeof spawnInOwnSession>;
  try {
    child = spawnInOwnSession({
      command,
      cwd,
      env: { ...env, [mark]: "1" },
      stdin: input === undefined ? "empty" : "pipe",
    });
  } catch (error) {
    return end(noExit, explain(error));
  }
  const tree = child.pid === undefined ? undefined : new ProcessTree(child.pid, mark, [child.stdout, child.stderr]);
  child.stdin?.on("error", () => {}); // it need not read what it is given
  if (request.keepOpen) child.stdin?.write(input ?? "");
  else child.stdin?.end(input);
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const closed = new Promise((resolve) => child.once("close", resolve));
  let giveUp = (): void => {};
  const exited = new Promise<{ exitCode: number | null; signal: string }>((resolve, reject) => {
    giveUp = () => resolve({ exitCode: null, signal: "SIGKILL" });
    child.once("error", reject);
    child.once("exit", (exitCode, name) => resolve({ exitCode, signal: name ?? "" }));
  });

  const stop = (why: "timedOut" | "cancelled") => {
    if (stages.length > 0 || !tree) return;
    state[why] = true;
    const target = { stages, graceMs: request.graceMs ?? usualGraceMs, exited: exited.catch(() => {}) };
    void stopInStages({ ...target, cancel: () => false, signal: (name) => tree.signal(name) }).then(giveUp);
  };
  const cancel = () => stop("cancelled");
  const timer = setTimeout(() => stop("timedOut"), Math.min(request.timeoutMs, 2 ** 31 - 1));
  signal?.addEventListener("abort", cancel, { once: true });
  if (tree) endWithThisProcess(tree);
  try {
    const exit = await exited;
    await happensWithin(closed, drainMs);
    await tree?.end(stages.includes("SIGKILL") ? { politeMs: 0 } : {});
    await happensWithin(closed, drainMs);
    return end(exit);
  } catch (error) {
    return end(noExit, explain(error));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    if (tree) forget(tree);
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
