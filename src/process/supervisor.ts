// Supervisor: manages one process from start to end. It can be stopped in stages at any time, its descendants are ended with it, and
// none of them outlives this process.
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { milliseconds, settlesWithin } from "./clock.ts";
import { endWithThisProcess, forget } from "./exit.ts";
import { guardChild, nextMark } from "./guard.ts";
import { type StartFailure, spawnChild, startFailure } from "./spawn.ts";
import { ProcessTree } from "./tree.ts";

/** The stages of a stop: ask the program to cancel, ask it to end, kill it. */
export type Stage = "cancel" | "SIGTERM" | "SIGKILL";

/** Why the supervisor ends a process. `Reason` adds the caller's own reasons. */
type StopReason<Reason extends string = never> = "timedOut" | "cancelled" | Reason;

export type SupervisorRequest<Reason extends string = never> = {
  /** The program and its arguments, which are run without a shell. */
  command: readonly string[];
  cwd: string;
  /** All environment variables of the program; none is inherited. */
  env: NodeJS.ProcessEnv;
  /** Called just before the start; returns what to run in place of `command`. */
  enter?(): Enclosure;
  /** Standard input, empty by default. The program need not read it. */
  input?: string;
  /** Whether stdin stays open after `input` was written. */
  keepOpen?: boolean;
  /** Called with every chunk of output as it arrives. */
  onOutput?(stream: "stdout" | "stderr", chunk: Buffer): void;
  /** Opens a channel on descriptors 3 and 4; called with what the program sends. The program must end when they break. */
  onChannel?(chunk: Buffer): void;
  /** Whether the program uses the stdin and stdout of this process. */
  inheritStreams?: boolean;
  /**
   * Stays in this process's session: for programs that never prompt or
   * fork, which the scheduler then counts as part of this process's work.
   */
  plain?: boolean;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Time shared by the stages of a stop, which as a whole takes hardly longer. */
  graceMs?: number;
  /** How many milliseconds each stage of stopping lasts, if not the default. */
  stageMs?: { cancel?: number; term?: number };
  /** The first stage of stopping: asks the program to cancel in its own way. Returns false if it has none. */
  cancel?(reason: StopReason<Reason>): boolean;
  /**
   * What to do with processes that outlive it. "group": those that left its group may
   * continue, unless it had to be stopped. "ignore": for programs that never fork.
   */
  leftovers?: "kill" | "group" | "ignore";
  /** The consumer has not yet taken the output that arrived; until then, silence does not mean that the output is complete. */
  isHeldUp?(): boolean;
};

/** An environment that a process runs in, such as a sandbox: how it is started there, signalled, and cleaned up after. */
export interface Enclosure {
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Called once `command` has been started. */
  started?(pid: number): void;
  /** Sends a signal to the process inside; returns false if it cannot. */
  signal?(name: NodeJS.Signals): boolean;
  /**
   * Called once after the process has ended for any reason, also when this process exits. `notes` are sentences about what happened
   * inside; `notBegun` says why the command was never started there.
   */
  leave?(): { notes: readonly string[]; notBegun?: string };
}

type Exit = {
  exitCode: number | null;
  signal: string;
  /** Why the process could not be started, if it could not. */
  failure?: StartFailure;
};

export type ProcessEnding<Reason extends string = never> = Exit & {
  /** Why the supervisor stopped the process, if it did. */
  stopped?: StopReason<Reason>;
  /** The stages that were needed to stop the process, in order. */
  stages: Stage[];
  /** How many processes outlived the program and were killed. */
  leftovers: number;
  notes: string[];
  /** Why the command never started in its enclosure; it may be retried. */
  notBegun?: string;
  /** Time from start to exit. */
  durationMs: number;
};

// After the exit, how many milliseconds to wait for more output of processes that the program started.
const drainQuietMs = 250;
const drainMaxMs = 2000;

export class Supervisor<Reason extends string = never> {
  /** The process id; 0 if the process could not be started, in which case `ended` says why. */
  readonly pid: number = 0;
  /** Resolves when the process has ended. Rejects only if leaving the sandbox fails. */
  readonly ended: Promise<ProcessEnding<Reason>>;
  readonly #request: SupervisorRequest<Reason>;
  readonly #child: ChildProcess | undefined;
  readonly #tree: ProcessTree | undefined;
  readonly #exited: Promise<Exit>;
  readonly #startedAt = milliseconds();
  readonly #stages: Stage[] = [];
  readonly #notes: string[] = [];
  #enclosure: Enclosure | undefined;
  #notBegun: string | undefined;
  #hasExited = false;
  #stopped: StopReason<Reason> | undefined;
  #receivedBytes = 0;
  /** Stops waiting for a process that even SIGKILL does not end because it hangs in the kernel. */
  #giveUp: () => void = () => {};
  /** Tells the guard that this process need not be killed any more. */
  #unguard: () => void = () => {};
  /** Removes the time limit and the abort listener. */
  #unlimit: () => void = () => {};

  constructor(request: SupervisorRequest<Reason>) {
    this.#request = request;
    if (request.signal?.aborted) {
      this.#stopped = "cancelled";
      this.#exited = Promise.resolve({ exitCode: null, signal: "" });
    } else {
      try {
        const mark = nextMark();
        const child = this.#spawn(mark);
        this.#child = child;
        this.pid = child.pid ?? 0;
        if (this.pid !== 0) {
          this.#unguard = guardChild(this.pid, { leadsGroup: !request.plain });
          if (request.leftovers !== "ignore")
            this.#tree = new ProcessTree(this.pid, mark, [child.stdout, child.stderr]);
          this.#enclosure?.started?.(this.pid);
          endWithThisProcess(this);
        }
        this.#exited = this.#connect(child);
      } catch (error) {
        this.#exited = Promise.resolve(this.#failed(error));
      }
    }
    this.ended = this.#follow();
  }

  get stdin(): Writable | undefined {
    return this.#child?.stdin ?? undefined;
  }

  get stdout(): Readable | undefined {
    return this.#child?.stdout ?? undefined;
  }

  /** Writes to the child's stdin or its IPC channel. Resolves when there is room for more; rejects if the other end is closed. */
  write(text: string): Promise<void> {
    const stream = this.#request.onChannel ? (this.#child?.stdio[3] as Writable | undefined) : this.stdin;
    if (!stream || this.pid === 0) return Promise.reject(new Error("it could not be started"));
    return new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  stop(reason: StopReason<Reason>): void {
    if (this.#hasExited || this.#stopped !== undefined || this.pid === 0) return;
    this.#stopped = reason;
    void this.#stopInStages(reason).then(() => this.#giveUp());
  }

  /** Removes the time limit and the abort listener: from now on only `stop` ends the process. */
  letGo(): void {
    this.#unlimit();
  }

  /** Resolves when the process is gone, or one second after SIGKILL. */
  async #stopInStages(reason: StopReason<Reason>): Promise<void> {
    const { graceMs = 2000, stageMs = {}, cancel } = this.#request;
    this.#stages.push("cancel");
    const wasAsked = cancel?.(reason) === true;
    if (wasAsked && (await settlesWithin(this.#exited, stageMs.cancel ?? graceMs / 2))) return;
    this.#stages.push("SIGTERM");
    await this.signal("SIGTERM");
    if (await settlesWithin(this.#exited, stageMs.term ?? (wasAsked ? graceMs / 2 : graceMs))) return;
    this.#stages.push("SIGKILL");
    await this.signal("SIGKILL");
    await settlesWithin(this.#exited, 1000);
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    if (name !== "SIGKILL" && this.#enclosure?.signal?.(name)) return;
    if (this.#tree) return this.#tree.signal(name);
    this.#child?.kill(name);
  }

  /** Kills the process synchronously, for use while our own process is exiting. */
  endNow(): void {
    if (this.#tree) this.#tree.endNow();
    else this.#child?.kill("SIGKILL");
    this.#leave();
  }

  #spawn(mark: string): ChildProcess {
    const { cwd, input, inheritStreams, onChannel, plain } = this.#request;
    this.#enclosure = this.#request.enter?.();
    const { command, env } = this.#enclosure ?? this.#request;
    return spawnChild({
      command,
      cwd,
      env: { ...env, [mark]: "1" },
      streams: inheritStreams ? "inherit" : input === undefined ? "noInput" : "pipe",
      channel: onChannel !== undefined,
      plain,
    });
  }

  #connect(child: ChildProcess): Promise<Exit> {
    const { input, keepOpen, onOutput, onChannel } = this.#request;
    // Streams are absent when the system has no descriptor left; an error event follows.
    child.stdin?.on("error", () => {}); // the program may end or close its stdin before reading everything
    if (onChannel) {
      child.stdio[3]?.on("error", () => {});
      (child.stdio[4] as Readable | undefined)?.on("data", onChannel).on("error", () => {});
    }
    if (input) child.stdin?.write(input);
    if (!keepOpen) child.stdin?.end();
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.on("data", (chunk: Buffer) => {
        this.#receivedBytes += chunk.length;
        onOutput?.(name, chunk);
      });
    }
    return new Promise((resolve) => {
      this.#giveUp = () => resolve({ exitCode: null, signal: "SIGKILL" });
      child.on("error", (error) => resolve(this.#failed(error)));
      child.once("exit", (exitCode, signal) => {
        this.#hasExited = true;
        resolve({ exitCode, signal: signal ?? "" });
      });
    });
  }

  #failed(error: unknown): Exit {
    const { command, cwd } = this.#request;
    return { exitCode: null, signal: "", failure: startFailure(error, command[0]!, cwd) };
  }

  async #follow(): Promise<ProcessEnding<Reason>> {
    const { signal, timeoutMs } = this.#request;
    const child = this.#child;
    const cancel = () => this.stop("cancelled");
    const timeOut = () => this.stop("timedOut");
    signal?.addEventListener("abort", cancel, { once: true });
    const timer = timeoutMs === undefined ? undefined : setTimeout(timeOut, Math.min(timeoutMs, 2 ** 31 - 1));
    this.#unlimit = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
    const closed = new Promise((resolve) => child?.once("close", resolve));
    try {
      const exit = await this.#exited;
      const durationMs = this.pid === 0 ? 0 : Math.round(milliseconds() - this.#startedAt);
      const leftovers = this.pid === 0 ? 0 : await this.#endRest(closed);
      this.#leave();
      const stopped = this.#stopped;
      const notBegun = this.#notBegun;
      return {
        ...{ ...exit, ...(stopped && { stopped }), ...(notBegun !== undefined && { notBegun }) },
        ...{ stages: this.#stages, leftovers, notes: this.#notes, durationMs },
      };
    } finally {
      this.#unlimit();
      for (const stream of child?.stdio ?? []) stream?.destroy();
      forget(this);
      this.#unguard();
      this.#leave();
    }
  }

  /** Ends leftover processes, and reads remaining output before and after. Returns how many were left. */
  async #endRest(closed: Promise<unknown>): Promise<number> {
    const deadline = milliseconds() + (this.#stopped === undefined ? drainMaxMs : drainQuietMs);
    let seen: number;
    do seen = this.#receivedBytes;
    while (!(await settlesWithin(closed, drainQuietMs)) && seen !== this.#receivedBytes && milliseconds() < deadline);

    const { leftovers, isHeldUp } = this.#request;
    const mayGoOn = leftovers === "group" && this.#stopped === undefined && !this.#tree?.hasGroup();
    // After SIGTERM and its waiting time, do not ask the remaining processes politely again.
    const politeness = this.#stages.includes("SIGKILL") ? { politeMs: 0 } : {};
    const count = mayGoOn ? 0 : await this.#tree?.end(politeness);
    while (!(await settlesWithin(closed, drainQuietMs)) && isHeldUp?.());
    return count ?? 0;
  }

  #leave(): void {
    const enclosure = this.#enclosure;
    this.#enclosure = undefined;
    const { notes = [], notBegun } = enclosure?.leave?.() ?? {};
    this.#notes.push(...notes);
    this.#notBegun ??= notBegun;
  }
}
