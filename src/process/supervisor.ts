// Supervisor: one process from its start to its end. It can be stopped in stages at any time, what grew out of it is ended,
// and none of it outlives this process.
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { happensWithin, milliseconds } from "./clock.ts";
import { endWithThisProcess, forget } from "./exit.ts";
import { guardChild, nextMark } from "./guard.ts";
import { type StartFailure, spawnChild, startFailure } from "./spawn.ts";
import { ProcessTree } from "./tree.ts";

/** Of a stop: asked to cancel, asked to end, ended. */
export type Stage = "cancel" | "SIGTERM" | "SIGKILL";

/** Why this side ends a process. `Reason`: what else there is to say for one kind of them. */
type StopReason<Reason extends string = never> = "timedOut" | "cancelled" | Reason;

export type SupervisorRequest<Reason extends string = never> = {
  /** Program and arguments; no shell. */
  command: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: NodeJS.ProcessEnv;
  /** What really runs, where that is not `command` itself. Asked just before the start. */
  enter?(): Enclosure;
  /** Its standard input; else that is empty. A program need not read it. */
  input?: string;
  /** Its input does not end with `input`. */
  keepOpen?: boolean;
  /** Told every chunk as it comes. */
  onOutput?(stream: "stdout" | "stderr", chunk: Buffer): void;
  /** Descriptors 3 and 4 are ours to speak with it; what comes is given here. It must end when they break. */
  onChannel?(chunk: Buffer): void;
  /** It has our own input and output, instead. */
  inheritStreams?: boolean;
  /** Stays in our own session: for what neither asks nor forks, which the scheduler then treats as our own work. */
  plain?: boolean;
  signal?: AbortSignal;
  /** None: no limit. */
  timeoutMs?: number;
  /** Shared by the stages of a stop: the whole of it takes hardly longer. */
  graceMs?: number;
  /** The stages one by one, where they are to differ. */
  stageMs?: { cancel?: number; term?: number };
  /** First of a stop: says it in the program's own way; false when it has no ear for that. */
  cancel?(reason: StopReason<Reason>): boolean;
  /**
   * What to do with processes that outlive it. "group": those that left its group may go on, unless it had to be stopped.
   * "ignore": for programs that never fork.
   */
  leftovers?: "kill" | "group" | "ignore";
  /** Our reader has not yet taken what came: so long, silence does not mean that this was all. */
  isHeldUp?(): boolean;
};

/** What a process is laid into: how it is started there, told to end, and left. */
export interface Enclosure {
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Called when `command` was started. */
  started?(pid: number): void;
  /** Sends a signal to what runs inside; false when it cannot. */
  signal?(name: NodeJS.Signals): boolean;
  /**
   * Called once when it has ended, however it did: also as this process ends. `notes`: sentences about what happened inside.
   * `notBegun`: why the command was never started in there.
   */
  leave?(): { notes: readonly string[]; notBegun?: string };
}

type Exit = {
  exitCode: number | null;
  signal: string;
  /** It could not be started. */
  failure?: StartFailure;
};

export type ProcessEnding<Reason extends string = never> = Exit & {
  /** Why this side ended it. */
  stopped?: StopReason<Reason>;
  /** Only those that were needed, in order. */
  stages: Stage[];
  /** How many processes outlived it and were ended. */
  leftovers: number;
  /** What the enclosure has to say about it. */
  notes: string[];
  /** Why it was never started in its enclosure; it may be tried again. */
  notBegun?: string;
  /** From start to exit. */
  durationMs: number;
};

// What grandchildren still have to say after the exit: until nothing comes for a while.
const drainQuietMs = 250;
const drainMostMs = 2000;

export class Supervisor<Reason extends string = never> {
  /** 0 when it could not be started; `ended` says why. */
  readonly pid: number = 0;
  /** Rejects only where an enclosure cannot be left. */
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
  /** For a process that even SIGKILL does not end, because it hangs in the kernel: this side goes on without it. */
  #giveUp: () => void = () => {};
  /** Nobody needs to end it any more, should this process be killed. */
  #unguard: () => void = () => {};
  /** Takes the time limit and the signal away. */
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

  /** To an open input, or to the channel. Resolves when it has room for more; rejects when nobody reads it any more. */
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

  /** From now on only `stop` ends it: no time limit, and not the signal. */
  letGo(): void {
    this.#unlimit();
  }

  /** Resolves when it is gone, or has outlived even SIGKILL by a second. */
  async #stopInStages(reason: StopReason<Reason>): Promise<void> {
    const { graceMs = 2000, stageMs = {}, cancel } = this.#request;
    this.#stages.push("cancel");
    const isHeard = cancel?.(reason) === true;
    if (isHeard && (await happensWithin(this.#exited, stageMs.cancel ?? graceMs / 2))) return;
    this.#stages.push("SIGTERM");
    await this.signal("SIGTERM");
    if (await happensWithin(this.#exited, stageMs.term ?? (isHeard ? graceMs / 2 : graceMs))) return;
    this.#stages.push("SIGKILL");
    await this.signal("SIGKILL");
    await happensWithin(this.#exited, 1000);
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    if (name !== "SIGKILL" && this.#enclosure?.signal?.(name)) return;
    if (this.#tree) return this.#tree.signal(name);
    this.#child?.kill(name);
  }

  /** For the moment in which this process itself ends. */
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
    // Streams are absent when the system has no descriptor left; the error event follows.
    child.stdin?.on("error", () => {}); // it may end, or close its input, before it has read all
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

  /** Ends what is left behind, and reads what is still said before and after. Returns how many were left. */
  async #endRest(closed: Promise<unknown>): Promise<number> {
    const deadline = milliseconds() + (this.#stopped === undefined ? drainMostMs : drainQuietMs);
    let seen: number;
    do seen = this.#receivedBytes;
    while (!(await happensWithin(closed, drainQuietMs)) && seen !== this.#receivedBytes && milliseconds() < deadline);

    const { leftovers, isHeldUp } = this.#request;
    const mayGoOn = leftovers === "group" && this.#stopped === undefined && !this.#tree?.hasGroup();
    // Nothing polite is left to say to what has had its SIGTERM and its time.
    const politeness = this.#stages.includes("SIGKILL") ? { politeMs: 0 } : {};
    const count = mayGoOn ? 0 : await this.#tree?.end(politeness);
    while (!(await happensWithin(closed, drainQuietMs)) && isHeldUp?.());
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
