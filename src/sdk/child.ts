// The only spawner of CLIs: a prompt in, checked frames out at the reader's pace, and an end that always comes.
import type { ChildProcess } from "node:child_process";
import { FrameError } from "../json/frame-error.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { endWithThisProcess, forget } from "../process/exit.ts";
import { spawnInOwnSession, spawnProblem } from "../process/spawn.ts";
import { happensWithin, type Stage, stopInStages } from "../process/stages.ts";
import { newMark, ProcessTree } from "../process/tree.ts";
import { UserError } from "../protocol/error-codes.ts";
import { type Frame, type FrameEnding, FrameParser, type FrameParserOptions } from "../protocol/frames.ts";
import { FrameQueue } from "./frame-queue.ts";
import { type PromptInput, type PromptRequest, promptInput } from "./prompt-input.ts";

export type CliRequest = PromptRequest & {
  cwd: string;
  /** Added to the environment of this process, which the CLI gets whole; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  /** From start to result. */
  timeoutMs?: number;
  /** Longest silence. Does not run while the reader holds the child up, nor while the child waits for this side. */
  idleMs?: number;
  isWaiting?(): boolean;
  /** Shared by the stages of a stop. */
  graceMs?: number;
  /** The stages one by one, where they are to differ. */
  stageMs?: { cancel?: number; term?: number };
  /** Of a turn on stdin: a CLI that is silent so long gets the end of it, as some read it whole before they begin. */
  closeTurnAfterMs?: number;
  /** How long the CLI may stay after its result. */
  resultGraceMs?: number;
  signal?: AbortSignal;
  parser?: FrameParserOptions;
  /** Told every byte as it comes, whatever becomes of it. */
  onStdout?(chunk: Buffer): void;
  onStderr?(chunk: Buffer): void;
};

export type CliEnd = Omit<FrameEnding, "frames" | "error"> & {
  /** Its `code` is a row of the table of error codes. */
  error?: FrameError | UserError;
  exitCode: number | null;
  signal: string;
  stderr: string;
  stages: Stage[];
  durationMs: number;
  /** Why this side ended it before the turn was over. */
  stop?: "cancelled" | "timedOut" | "silent" | "faulty" | "mute";
};

export interface RunningCli {
  /** 0 when it could not be started; `ended` says why. */
  pid: number;
  /** How the prompt went in. */
  via: PromptInput["via"];
  /** Once, in order; over after the frame that ends the turn. To be read to the end, else the child waits for the reader. */
  frames: AsyncIterable<Frame>;
  /** The same in batches, instead. */
  batches: AsyncIterable<Frame[]>;
  /** Never rejects. */
  ended: Promise<CliEnd>;
  stop(): void;
  /** Why this side is ending it, if it is. Settled once the frames are over. */
  stopReason(): CliEnd["stop"];
}

export function startCli(request: CliRequest): RunningCli {
  const cli = new Cli(request);
  return {
    pid: cli.pid,
    via: cli.via,
    frames: cli.queue,
    batches: { [Symbol.asyncIterator]: () => cli.queue.batches() },
    ended: cli.ended,
    stop: () => cli.stop("cancelled"),
    stopReason: () => cli.stopReason,
  };
}

const stderrBytes = 64 * 1024;
const drainMs = 250;

type Stop = "cancelled" | "timedOut" | "silent" | "faulty" | "mute" | "lingered";
type Exit = { exitCode: number | null; signal: string };

class Cli {
  readonly pid: number = 0;
  readonly via: RunningCli["via"];
  readonly queue: FrameQueue;
  readonly ended: Promise<CliEnd>;
  readonly #request: CliRequest;
  readonly #parser: FrameParser;
  readonly #child: ChildProcess | undefined;
  readonly #tree: ProcessTree | undefined;
  readonly #stderr = new BoundedBytes(stderrBytes);
  readonly #stages: Stage[] = [];
  readonly #startedAt = performance.now();
  #exited: Promise<Exit> | undefined;
  #exit: Exit | undefined;
  #bytesOfFrame = 0;
  #isAwaited = false;
  #stopped: Stop | undefined;
  #stopping: Promise<void> | undefined;
  #timers = new Timers();
  #giveUp: () => void = () => {};

  constructor(request: CliRequest) {
    this.#request = request;
    this.#parser = new FrameParser(request.parser);
    this.queue = new FrameQueue({
      full: () => this.#hold(),
      room: () => this.#release(),
      abandoned: () => {
        this.stop("cancelled");
        this.#child?.stdout?.resume();
      },
    });
    const { args, via, stdin } = promptInput(request);
    this.via = via;
    if (request.signal?.aborted) {
      this.#stopped = "cancelled";
      this.ended = Promise.resolve(this.#conclude({ exitCode: null, signal: "" }));
      return;
    }
    const mark = newMark();
    try {
      this.#child = spawnInOwnSession({
        command: [request.command, ...args],
        cwd: request.cwd,
        // The CLI must not outlive the program that drives it, even one that is killed outright.
        env: { ...process.env, ...request.env, COURSER_EXIT_WITH_PARENT: "1", [mark]: "1" },
        stdin: stdin === undefined ? "empty" : "pipe",
      });
    } catch (error) {
      this.ended = Promise.resolve(this.#failed(error));
      return;
    }
    const child = this.#child;
    this.pid = child.pid ?? 0;
    if (this.pid !== 0) {
      this.#tree = new ProcessTree(this.pid, mark, [child.stdout, child.stderr]);
      endWithThisProcess(this.#tree);
    }
    child.stdin?.on("error", () => {}); // it closed its ears; its exit tells the rest
    if (stdin !== undefined) {
      child.stdin?.write(stdin);
      if (via === "stdin") child.stdin?.end();
      const { closeTurnAfterMs } = request;
      if (via === "turn" && closeTurnAfterMs !== undefined)
        this.#timers.set("input", closeTurnAfterMs, () => child.stdin?.end());
    }
    child.stdout?.on("data", (chunk: Buffer) => {
      request.onStdout?.(chunk);
      this.#take(chunk);
    });
    child.stdout?.once("end", () => this.#outputEnded());
    child.stderr?.on("data", (chunk: Buffer) => {
      request.onStderr?.(chunk);
      this.#stderr.push(chunk);
      this.#heard();
    });
    this.ended = this.#follow(child);
  }

  get stopReason(): CliEnd["stop"] {
    return this.#stopped === "lingered" ? undefined : this.#stopped;
  }

  stop(why: Stop): void {
    if (this.#exit || this.#stopping || this.pid === 0) return;
    this.#stopped = this.#parser.terminal ? "lingered" : why;
    this.#timers.clear();
    if (why === "faulty") this.queue.close();
    this.queue.isClosing = true; // a CLI that is told to cancel still has its result to say, reader or not
    this.#child!.stdout?.resume();
    this.#stopping = stopInStages({
      stages: this.#stages,
      graceMs: this.#request.graceMs ?? 2000,
      ...(this.#request.stageMs && { stageMs: this.#request.stageMs }),
      exited: this.#exited!,
      cancel: () => {
        const stdin = this.#child!.stdin;
        if (!stdin?.writable) return false;
        const { turnId } = { ...this.#request.turn } as { turnId?: unknown };
        stdin.write(`${JSON.stringify({ type: "cancel", turnId })}\n`);
        return true;
      },
      signal: (name) => this.#tree!.signal(name),
    }).then(() => this.#giveUp());
  }

  async #follow(child: ChildProcess): Promise<CliEnd> {
    const { timeoutMs, signal } = this.#request;
    const cancel = () => this.stop("cancelled");
    signal?.addEventListener("abort", cancel, { once: true });
    if (timeoutMs !== undefined) this.#timers.set("timeout", timeoutMs, () => this.stop("timedOut"));
    this.#heard();
    const drained = child.stdout
      ? new Promise<void>((resolve) => child.stdout!.once("close", resolve))
      : Promise.resolve();
    this.#exited = new Promise<Exit>((resolve, reject) => {
      this.#giveUp = () => resolve({ exitCode: null, signal: "SIGKILL" });
      child.once("error", reject);
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal: signal ?? "" }));
    });
    try {
      this.#exit = await this.#exited;
      this.#timers.clear();
      await happensWithin(drained, drainMs);
      await this.#tree?.end(this.#stages.includes("SIGKILL") ? { politeMs: 0 } : {});
      await this.#readRest(drained);
      return this.#conclude(this.#exit);
    } catch (error) {
      return this.#failed(error);
    } finally {
      this.#timers.clear();
      signal?.removeEventListener("abort", cancel);
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
      if (this.#tree) forget(this.#tree);
    }
  }

  /** A slow reader may still have much to take out of the pipe; only while it keeps up does silence mean that this was all. */
  async #readRest(drained: Promise<void>): Promise<void> {
    while (!(await happensWithin(drained, drainMs))) {
      if (!this.queue.isFull && this.queue.isEmpty) return;
    }
  }

  #take(chunk: Buffer): void {
    this.#timers.drop("input");
    this.#heard();
    const frames = this.#parser.push(chunk);
    this.#bytesOfFrame += chunk.length;
    for (const frame of frames) this.queue.push(frame, this.#bytesOfFrame / frames.length);
    if (frames.length > 0) this.#bytesOfFrame = 0;
    if (this.#parser.error) this.stop("faulty");
    else if (this.#parser.terminal && !this.queue.isClosed) this.#turnIsOver();
  }

  #turnIsOver(): void {
    this.queue.close();
    this.#timers.clear();
    this.#child!.stdout?.resume(); // what comes now is thrown away, but must not dam up
    if (this.#stopped) return;
    this.#timers.set("linger", this.#request.resultGraceMs ?? 2000, () => this.stop("lingered"));
  }

  #heard(): void {
    const { idleMs } = this.#request;
    if (idleMs === undefined || this.queue.isFull || this.#parser.terminal || this.#stopped || this.#exit) return;
    this.#timers.set("idle", idleMs, () => this.#silent());
  }

  /** The CLI has the whole time again once it need not wait for this side any more. */
  #silent(): void {
    const isExcused = this.#isAwaited;
    this.#isAwaited = this.#request.isWaiting?.() === true;
    if (isExcused || this.#isAwaited) this.#heard();
    else this.stop("silent");
  }

  /** Nothing can come any more: a process that stays has no more to say. */
  #outputEnded(): void {
    if (this.#exit || this.#stopped || this.#parser.terminal) return;
    this.#timers.set("linger", this.#request.resultGraceMs ?? 2000, () => this.stop("mute"));
  }

  #hold(): void {
    if (this.#stopped) return;
    this.#child?.stdout?.pause();
    this.#timers.drop("idle");
  }

  #release(): void {
    this.#child?.stdout?.resume();
    this.#heard();
  }

  #conclude(exit: Exit): CliEnd {
    const stderr = this.#stderr.text();
    // An end that was forced says nothing about the CLI.
    const child =
      this.#stopped && !this.#parser.terminal ? { exit: null, signal: null, stderr } : { ...named(exit), stderr };
    const { frames, error, ...ending } = this.#parser.end(child);
    for (const frame of frames) this.queue.push(frame, 0);
    this.queue.close();
    const own = this.#ownError(stderr);
    return {
      ...ending,
      ...(own ? { outcome: "fail_closed" as const, error: own } : error && { error }),
      ...exit,
      stderr,
      stages: this.#stages,
      durationMs: Math.round(performance.now() - this.#startedAt),
      ...(this.stopReason && { stop: this.stopReason }),
    };
  }

  /** Why this side ended it, unless the turn was over by then. */
  #ownError(stderr: string): FrameError | UserError | undefined {
    const { command, timeoutMs, idleMs } = this.#request;
    switch (this.#stopped) {
      case "timedOut":
        return new FrameError("CLI_TIMEOUT", `${command} gave no result within ${timeoutMs} ms and was ended.`, {
          stderr,
        });
      case "silent":
        return new FrameError("CLI_TIMEOUT", `${command} said nothing for ${idleMs} ms and was ended.`, { stderr });
      case "cancelled":
        return new UserError("INTERRUPTED", `${command} was cancelled.`);
      case "mute":
        return new FrameError("NO_RESULT", `${command} closed its output without a result, stayed, and was ended.`, {
          stderr,
        });
      case "faulty":
      case "lingered":
      case undefined:
        return undefined;
    }
  }

  #failed(error: unknown): CliEnd {
    const { command, cwd } = this.#request;
    const problem = spawnProblem(error, command, cwd);
    const message = error instanceof Error ? error.message : String(error);
    const end = this.#conclude({ exitCode: null, signal: "" });
    return {
      ...end,
      outcome: "fail_closed",
      error: problem
        ? new UserError(problem.code, problem.message)
        : new FrameError("CLI_EXIT", `${command} could not be started: ${message}`),
    };
  }
}

function named({ exitCode, signal }: Exit): { exit: number | null; signal: string | null } {
  return { exit: exitCode, signal: signal || null };
}

class Timers {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  set(name: string, ms: number, call: () => void): void {
    clearTimeout(this.#timers.get(name));
    // A busy process sees its timers before its pipes: what lies there by then may still put the timer off.
    const ring = () => setImmediate(() => this.#timers.get(name) === timer && call());
    const timer = setTimeout(ring, Math.min(ms, 2 ** 31 - 1));
    this.#timers.set(name, timer);
  }

  drop(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
