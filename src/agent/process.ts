// The only spawner of tools: bounded in time and memory, and nothing is left behind.

import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { toolEnvironment } from "../policy/tool-environment.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { milliseconds } from "../process/clock.ts";
import { spawnInOwnSession, spawnProblem } from "../process/spawn.ts";
import { happensWithin, type Stage, stopInStages } from "../process/stages.ts";
import { newMark, ProcessTree } from "../process/tree.ts";
import { UserError } from "../protocol/error-codes.ts";
import { CharacterStream, SpillFile } from "./output.ts";
import type { Sandbox, SandboxedCommand } from "./sandbox/index.ts";

export { toolEnvironment };

export type ProcessRequest = {
  /** Program and arguments; no shell. */
  command: readonly string[];
  cwd: string;
  /** The whole environment; else toolEnvironment(). */
  env?: Record<string, string>;
  /** Its standard input; else that is empty. A command need not read it. `open`: it is written to while it runs. */
  input?: string | { open: true };
  /** Descriptors 3 and 4 are ours to speak with it; what comes is given here. It must end when they break. */
  onChannel?(chunk: Buffer): void;
  /** Runs it in there, or not at all. `readable`: folders outside of the workspace that it must be able to read. */
  sandbox?: Sandbox;
  readable?: readonly string[];
  /** Streams that can be opened by their names: ours are sockets to the kernel, and those cannot. */
  realPipes?: boolean;
  signal?: AbortSignal;
  /** None: no limit. */
  timeoutMs?: number;
  /** Shared by the stages of a stop. */
  graceMs?: number;
  /** Most bytes kept in memory for each stream, half of them from the beginning and half from the end. */
  keepBytes?: number;
  /** File that gets the whole interleaved output once `spillAfterBytes` (else `keepBytes`) is passed. */
  spillTo?: string;
  spillAfterBytes?: number;
  /** Live, in whole characters. */
  onOutput?(stream: "stdout" | "stderr", chunk: Buffer): void;
  /**
   * What to do with processes that outlive the command. "group": those that left its group may go on, unless it had to be
   * stopped. "ignore": for programs that never fork.
   */
  leftovers?: "kill" | "group" | "ignore";
};

export type ProcessEnd = {
  exitCode: number | null;
  signal: string;
  stdout: string;
  stderr: string;
  interleaved: string;
  truncated: boolean;
  totalBytes: number;
  spilledTo?: string;
  spilledBytes?: number;
  spilledLines?: number;
  timedOut: boolean;
  cancelled: boolean;
  /** Only those that were needed, in order. */
  stages: Stage[];
  /** How many processes outlived the command and were ended. */
  leftovers: number;
  /** What the sandbox has to say about it. */
  notes: string[];
  durationMs: number;
};

export interface ProcessRunner {
  run(request: ProcessRequest): Promise<ProcessEnd>;
  start(request: ProcessRequest): RunningProcess;
  /** With our own input and output, and the signals that we get. For a command that the user typed. */
  attach(request: Pick<ProcessRequest, "command" | "cwd" | "env" | "sandbox">): Promise<AttachedEnd>;
  /** Stops whatever still runs, in stages, and waits for it. */
  endAll(): Promise<void>;
  /** Kills whatever still runs before it returns: for the `exit` event of this process. */
  endAllNow(): void;
}

export type AttachedEnd = Pick<ProcessEnd, "exitCode" | "signal" | "notes">;

export interface RunningProcess {
  /** 0 when it could not be started; `ended` says why. */
  pid: number;
  ended: Promise<ProcessEnd>;
  /** To an open input, or to the channel. Resolves when it has room for more; rejects when nobody reads it any more. */
  write(text: string): Promise<void>;
  stop(): void;
}

/** `keys`: values in use, which no tool may see under whatever name. */
export function createProcessRunner(
  options: { env?: NodeJS.ProcessEnv; keys?: readonly string[] } = {},
): ProcessRunner {
  const running = new Set<Pick<Run, "stop" | "endNow"> & { ended: Promise<unknown> }>();
  let environment: Record<string, string> | undefined;

  function start(request: ProcessRequest): RunningProcess {
    const run = new Run(
      request,
      request.env ?? (environment ??= toolEnvironment(options.env ?? process.env, options.keys)),
    );
    running.add(run);
    const ended = run.ended.finally(() => running.delete(run));
    ended.catch(() => {}); // whoever only stops it need not look at `ended`
    return { pid: run.pid, ended, write: (text) => run.write(text), stop: () => run.stop("cancelled") };
  }

  async function attach(request: ProcessRequest): Promise<AttachedEnd> {
    const { cwd } = request;
    const env = { ...(request.env ?? toolEnvironment(options.env ?? process.env, options.keys)), PWD: cwd };
    const entered = request.sandbox?.enter({ command: request.command, cwd, env });
    const [program, ...args] = entered?.command ?? request.command;
    const { spawn } = process.getBuiltinModule("node:child_process");
    // In a session of its own: a signal from the terminal comes to us alone, and goes on to the command itself.
    const child = spawn(program!, args, { cwd, env: entered?.env ?? env, stdio: "inherit", detached: true });
    if (child.pid !== undefined) entered?.started(child.pid);
    const pass = (name: NodeJS.Signals) => {
      if (!entered?.signal(name)) child.kill(name);
    };
    const ended = new Promise<AttachedEnd>((resolve, reject) => {
      child.once("error", (error) => reject(problemOf(error, request)));
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal: signal ?? "", notes: [] }));
    });
    const kill = () => void child.kill("SIGKILL");
    const run = { ended, stop: kill, endNow: kill };
    running.add(run);
    for (const name of passedSignals) process.on(name, pass);
    try {
      const end = await ended;
      return { ...end, notes: entered?.leave() ?? [] };
    } catch (error) {
      entered?.leave();
      throw error;
    } finally {
      for (const name of passedSignals) process.off(name, pass);
      running.delete(run);
    }
  }

  return {
    start,
    attach,
    run: (request) => start(request).ended,
    async endAll() {
      const runs = [...running];
      for (const run of runs) run.stop("cancelled");
      await Promise.allSettled(runs.map((run) => run.ended));
    },
    endAllNow() {
      for (const run of running) run.endNow();
    },
  };
}

/** By way of `cat`, outside of a sandbox: there it would be ended before it has passed on the last of it. */
const withRealPipes = 'exec > >(exec cat) 2> >(exec cat >&2); exec "$@"';

const passedSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];

// What grandchildren still have to say after the child's exit: until nothing comes for a while.
const drainQuietMs = 250;
const drainMostMs = 2000;

class Run {
  readonly ended: Promise<ProcessEnd>;
  readonly tree: ProcessTree | undefined;
  readonly pid: number = 0;
  readonly #request: ProcessRequest;
  readonly #child: ChildProcess | undefined;
  readonly #startedAt = milliseconds();
  readonly #output: Output;
  readonly #stages: Stage[] = [];
  readonly #exited: Promise<{ exitCode: number | null; signal: string }>;
  #stopped: "timedOut" | "cancelled" | undefined;
  #stopping: Promise<void> | undefined;
  #hasExited = false;
  #leftovers = 0;
  #entered: SandboxedCommand | undefined;
  #notes: string[] = [];
  /** For a process that even SIGKILL does not end, because it hangs in the kernel: the call ends without it. */
  #giveUp: () => void = () => {};

  constructor(request: ProcessRequest, environment: Record<string, string>) {
    this.#request = request;
    this.#output = new Output(request);
    if (request.signal?.aborted) {
      this.#stopped = "cancelled";
      this.#exited = Promise.resolve({ exitCode: null, signal: "" });
      this.ended = this.#exited.then((exit) => this.#end(exit, 0));
      return;
    }
    const mark = newMark();
    const { cwd, readable, realPipes } = request;
    const env = { ...environment, PWD: cwd, [mark]: "1" };
    try {
      this.#entered = request.sandbox?.enter({ command: request.command, cwd, env, readable });
      const { command, env: confined, bash } = this.#entered ?? { command: request.command, env, bash: "bash" };
      this.#child = spawnInOwnSession({
        command: realPipes ? [bash, "-c", withRealPipes, "pipes", ...command] : command,
        cwd,
        env: confined,
        stdin: request.input === undefined ? "empty" : "pipe",
        plain: request.leftovers === "ignore",
        channel: request.onChannel !== undefined,
        bound: isOpen(request),
      });
    } catch (error) {
      this.#leave();
      this.#exited = Promise.reject(problemOf(error, request));
      this.#exited.catch(() => {});
      this.ended = this.#exited.then((exit) => this.#end(exit, 0));
      return;
    }
    const child = this.#child;
    this.pid = child.pid ?? 0;
    if (this.pid !== 0 && request.leftovers !== "ignore")
      this.tree = new ProcessTree(this.pid, mark, [child.stdout, child.stderr]);
    if (this.pid !== 0) {
      this.#output.open();
      this.#entered?.started(this.pid);
    }
    this.#exited = new Promise((resolve, reject) => {
      child.once("error", (error) => reject(problemOf(error, request)));
      this.#giveUp = () => resolve({ exitCode: null, signal: "SIGKILL" });
      child.once("exit", (exitCode, signal) => {
        this.#hasExited = true;
        child.stdio[3]?.destroy(); // what it left in its group ends with it
        resolve({ exitCode, signal: signal ?? "" });
      });
    });
    // Absent when the system has no descriptor left; the error event follows.
    child.stdin?.on("error", () => {}); // it may end, or close its input, before it has read all
    // Held for its sake alone: when it breaks, the child ends.
    child.stdio[3]?.on("error", () => {});
    if (request.onChannel)
      (child.stdio[4] as Readable | undefined)?.on("data", request.onChannel).on("error", () => {});
    if (typeof request.input === "string") child.stdin?.end(request.input);
    child.stdout?.on("data", (chunk: Buffer) => this.#output.push("stdout", chunk));
    child.stderr?.on("data", (chunk: Buffer) => this.#output.push("stderr", chunk));
    this.ended = this.#finish(child);
  }

  write(text: string): Promise<void> {
    const child = this.#child;
    const stdin = this.#request.onChannel ? (child?.stdio[3] as Writable | undefined) : child?.stdin;
    if (!stdin || this.pid === 0) return Promise.reject(new Error("it could not be started"));
    return new Promise((resolve, reject) => {
      stdin.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  stop(why: "timedOut" | "cancelled"): void {
    if (this.#hasExited || this.#stopping || this.pid === 0) return;
    this.#stopped = why;
    this.#stopping = stopInStages({
      stages: this.#stages,
      graceMs: this.#request.graceMs ?? 2000,
      exited: this.#exited,
      // The end of an open input says it; a command has none to hear it from.
      cancel: () => isOpen(this.#request) && this.#child!.stdin?.end() !== undefined,
      signal: async (name) => {
        if (name === "SIGTERM" && this.#entered?.signal(name)) return;
        if (this.tree) return this.tree.signal(name);
        this.#child!.kill(name);
      },
    }).then(() => this.#giveUp());
  }

  async #finish(child: ChildProcess): Promise<ProcessEnd> {
    const { signal, timeoutMs } = this.#request;
    const cancel = () => this.stop("cancelled");
    signal?.addEventListener("abort", cancel, { once: true });
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => this.stop("timedOut"), Math.min(timeoutMs, 2 ** 31 - 1));
    try {
      const closed = new Promise((resolve) => child.once("close", resolve));
      const exit = await this.#exited;
      const durationMs = Math.round(milliseconds() - this.#startedAt);
      await this.#drain(closed);
      // Nothing polite is left to say to what has had its SIGTERM and its time.
      if (this.#mayHaveLeftovers())
        this.#leftovers = (await this.tree?.end(this.#stages.includes("SIGKILL") ? { politeMs: 0 } : {})) ?? 0;
      await happensWithin(closed, drainQuietMs);
      return this.#end(exit, durationMs);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      for (const stream of child.stdio) stream?.destroy();
      this.#leave();
    }
  }

  #mayHaveLeftovers(): boolean {
    return this.#request.leftovers !== "group" || this.#stopped !== undefined || this.tree?.hasGroup() === true;
  }

  /** For the moment in which this process itself ends. */
  endNow(): void {
    this.tree?.endNow();
    this.#leave();
  }

  #leave(): void {
    this.#notes.push(...(this.#entered?.leave() ?? []));
    this.#entered = undefined;
  }

  async #drain(closed: Promise<unknown>): Promise<void> {
    const deadline = milliseconds() + (this.#stopped ? drainQuietMs : drainMostMs);
    for (let seen = -1; seen !== this.#output.total && milliseconds() < deadline; ) {
      seen = this.#output.total;
      if (await happensWithin(closed, drainQuietMs)) return;
    }
  }

  #end(exit: { exitCode: number | null; signal: string }, durationMs: number): ProcessEnd {
    return {
      ...exit,
      ...this.#output.end(),
      timedOut: this.#stopped === "timedOut",
      cancelled: this.#stopped === "cancelled",
      stages: this.#stages,
      leftovers: this.#leftovers,
      notes: this.#notes,
      durationMs,
    };
  }
}

/** The two streams of a command, and both laid into one. */
class Output {
  readonly #request: ProcessRequest;
  readonly #streams: Record<"stdout" | "stderr", { kept: BoundedBytes; characters: CharacterStream }>;
  readonly #interleaved: BoundedBytes;
  readonly #spillAfter: number;
  #spill: SpillFile | undefined;

  constructor(request: ProcessRequest) {
    const keepBytes = request.keepBytes ?? 1024 * 1024;
    this.#request = request;
    this.#streams = {
      stdout: { kept: new BoundedBytes(keepBytes), characters: new CharacterStream() },
      stderr: { kept: new BoundedBytes(keepBytes), characters: new CharacterStream() },
    };
    this.#interleaved = new BoundedBytes(keepBytes);
    // Not more than is kept, or the beginning of the file would be lost.
    this.#spillAfter = Math.min(request.spillAfterBytes ?? keepBytes, keepBytes);
  }

  get total(): number {
    return this.#streams.stdout.kept.total + this.#streams.stderr.kept.total;
  }

  /** A file that is to hold everything is there from the start, for whoever looks. */
  open(): void {
    const { spillTo } = this.#request;
    if (spillTo !== undefined && this.#spillAfter === 0) this.#spill = new SpillFile(spillTo);
  }

  push(name: "stdout" | "stderr", chunk: Buffer): void {
    const stream = this.#streams[name];
    stream.kept.push(chunk);
    this.#pass(name, stream.characters.push(chunk));
  }

  #pass(name: "stdout" | "stderr", bytes: Buffer): void {
    if (bytes.length === 0) return;
    const { spillTo, onOutput } = this.#request;
    if (spillTo !== undefined && !this.#spill && this.#interleaved.total + bytes.length > this.#spillAfter) {
      this.#spill = new SpillFile(spillTo);
      const before = this.#interleaved.bytes();
      if (before.length > 0) this.#spill.write(before);
    }
    this.#spill?.write(bytes);
    this.#interleaved.push(bytes);
    onOutput?.(name, bytes);
  }

  end() {
    const { stdout, stderr } = this.#streams;
    this.#pass("stdout", stdout.characters.end());
    this.#pass("stderr", stderr.characters.end());
    this.#spill?.end();
    return {
      stdout: stdout.kept.text(),
      stderr: stderr.kept.text(),
      interleaved: this.#interleaved.text(),
      truncated: stdout.kept.isCut || stderr.kept.isCut || this.#interleaved.isCut,
      totalBytes: this.total,
      ...(this.#spill?.isThere && {
        spilledTo: this.#spill.path,
        spilledBytes: this.#spill.written,
        spilledLines: this.#spill.lines,
      }),
    };
  }
}

/** A program that is spoken with while it runs must not outlive this one, whatever ends it. */
function isOpen({ input }: ProcessRequest): boolean {
  return typeof input === "object";
}

function problemOf(error: unknown, request: ProcessRequest): unknown {
  const problem = spawnProblem(error, request.command[0]!, request.cwd);
  return problem ? new UserError(problem.code, problem.message) : error;
}
