// Starts agent CLIs (nothing else does): writes the prompt, reads checked frames at the reader's pace, and always reports an end.
import { FrameError } from "../json/frame-error.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { type ProcessEnding, Supervisor, type SupervisorRequest } from "../process/supervisor.ts";
import { cancelled } from "../protocol/cancelled.ts";
import { UserError } from "../protocol/error-codes.ts";
import { type Frame, type FrameEnding, FrameParser, type FrameParserOptions } from "../protocol/frames.ts";
import { FrameQueue } from "./frame-queue.ts";
import { type PromptInput, type PromptRequest, promptInput } from "./prompt-input.ts";

export type CliRequest = PromptRequest &
  Pick<SupervisorRequest, "cwd" | "signal" | "graceMs" | "stageMs"> & {
    /** The name of the CLI in messages; `command` may be the interpreter that runs it. */
    program?: string;
    /** Variables added to this process's environment, which the CLI inherits whole; undefined removes a variable. */
    env?: Record<string, string | undefined>;
    /** The time limit in milliseconds from start to result. */
    timeoutMs?: number;
    /** The longest silence allowed, in milliseconds, apart from time when the reader or a callback is slow. */
    idleMs?: number;
    isWaiting?(): boolean;
    /** Closes stdin of a turn after this much silence, because some CLIs read their input to its end before they begin. */
    closeTurnAfterMs?: number;
    /** How many milliseconds the CLI may keep running after its result. */
    resultGraceMs?: number;
    parser?: FrameParserOptions;
    /** Called with every chunk as it arrives, before it is parsed. */
    onStdout?(chunk: Buffer): void;
    onStderr?(chunk: Buffer): void;
  };

/** Reasons to stop a CLI beyond those for any process. "lingered" means that its turn was already over. */
type OwnReason = "silent" | "faulty" | "mute" | "lingered";
type CliEnding = ProcessEnding<OwnReason>;
type StopReason = NonNullable<CliEnding["stopped"]>;

export type CliEnd = Omit<FrameEnding, "frames" | "error"> &
  Pick<CliEnding, "exitCode" | "signal" | "stages" | "durationMs"> & {
    /** Why the CLI's output or process failed; its `code` is one of the documented error codes. */
    error?: FrameError | UserError;
    stderr: string;
    /** Whether `cancel` wrote a cancel request to the CLI's stdin before it stopped the process. */
    wasToldToCancel: boolean;
    /** Why this process stopped the CLI before the turn had ended. */
    stop?: Exclude<StopReason, "lingered">;
  };

const stderrBytes = 64 * 1024;

/** An agent CLI that was started. */
export class RunningCli {
  /** How the prompt was passed to the CLI. */
  readonly via: PromptInput["via"];
  /** The frames in order, for one reader, ending with the frame that ends the turn. Read to the end: an unread queue blocks the CLI. */
  readonly frames: FrameQueue;
  /** The same frames in batches; read either this or `frames`. */
  readonly batches: AsyncIterable<Frame[]>;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<CliEnd>;
  readonly #request: CliRequest;
  readonly #parser: FrameParser;
  readonly #process: Supervisor<OwnReason>;
  readonly #stderr = new BoundedBytes(stderrBytes);
  #bytesOfFrame = 0;
  #isAwaited = false;
  #wasToldToCancel = false;
  #stopped: StopReason | undefined;
  #timers = new Timers();

  constructor(request: CliRequest) {
    this.#request = request;
    this.#parser = new FrameParser(request.parser);
    this.frames = new FrameQueue({
      full: () => this.#pauseReading(),
      room: () => this.#resumeReading(),
      abandoned: () => {
        this.stop();
        this.#process.stdout?.resume();
      },
    });
    this.batches = { [Symbol.asyncIterator]: () => this.frames.batches() };
    const { args, via, stdin } = promptInput(request);
    this.via = via;
    this.#process = new Supervisor<OwnReason>({
      command: [request.command, ...args],
      cwd: request.cwd,
      // The CLI must not outlive this process, even when this process is killed.
      env: { ...process.env, ...request.env, COURSER_EXIT_WITH_PARENT: "1" },
      input: stdin,
      keepOpen: via === "turn",
      signal: request.signal,
      graceMs: request.graceMs,
      stageMs: request.stageMs,
      onOutput: (stream, chunk) => (stream === "stdout" ? this.#receive(chunk) : this.#takeStderr(chunk)),
      cancel: (reason) => this.#cancel(reason),
      isHeldUp: () => this.#process.stdout?.closed === false && (this.frames.isFull || !this.frames.isEmpty),
    });
    const { timeoutMs, closeTurnAfterMs } = request;
    if (timeoutMs !== undefined) this.#timers.set("timeout", timeoutMs, () => this.stop("timedOut"));
    if (via === "turn" && closeTurnAfterMs !== undefined)
      this.#timers.set("input", closeTurnAfterMs, () => this.#process.stdin?.end());
    this.#resetSilence();
    this.#process.stdout?.once("end", () => this.#outputEnded());
    this.ended = this.#process.ended.then((ending) => this.#conclude(ending));
  }

  /** The process id, or 0 when the CLI could not be started; `ended` then has the reason. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Why this process is stopping the CLI, if it is. It no longer changes after the CLI's last output. */
  stopReason(): CliEnd["stop"] {
    return this.#stopped === "lingered" ? undefined : this.#stopped;
  }

  stop(why: StopReason = "cancelled"): void {
    this.#process.stop(why);
  }

  /** Like `stop`, but without a moment for one more step: what it does next would exceed a limit. */
  halt(): void {
    try {
      if (this.pid !== 0) process.kill(-this.pid, "SIGKILL");
    } catch {
      // The process does not lead a process group, or it has already ended.
    }
    this.stop();
  }

  /** Writes a line to the CLI's stdin while that is open. Ignores write errors: a process that stopped reading or is gone reports that through its end. */
  write(line: object): void {
    if (this.pid !== 0) this.#process.write(`${JSON.stringify(line)}\n`).catch(() => {});
  }

  endInput(): void {
    this.#process.stdin?.end();
  }

  #cancel(why: StopReason): boolean {
    this.#stopped = this.#parser.terminal ? "lingered" : why;
    this.#timers.clear();
    if (why === "faulty") this.frames.close();
    this.frames.isClosing = true; // a cancelled CLI still reports its result: keep reading, even without a reader
    const { stdin, stdout } = this.#process;
    stdout?.resume();
    if (!stdin?.writable) return false;
    const { turnId } = { ...this.#request.turn } as { turnId?: unknown };
    stdin.write(`${JSON.stringify({ type: "cancel", turnId })}\n`);
    this.#wasToldToCancel = true;
    return true;
  }

  #takeStderr(chunk: Buffer): void {
    this.#request.onStderr?.(chunk);
    this.#stderr.push(chunk);
    this.#resetSilence();
  }

  #receive(chunk: Buffer): void {
    this.#request.onStdout?.(chunk);
    this.#timers.drop("input");
    this.#resetSilence();
    const frames = this.#parser.push(chunk);
    this.#bytesOfFrame += chunk.length;
    for (const frame of frames) this.frames.push(frame, this.#bytesOfFrame / frames.length);
    if (frames.length > 0) this.#bytesOfFrame = 0;
    if (this.#parser.error) this.stop("faulty");
    else if (this.#parser.terminal && !this.frames.isClosed) this.#turnIsOver();
  }

  #turnIsOver(): void {
    this.frames.close();
    this.#timers.clear();
    this.#process.stdout?.resume(); // discard further output, but keep reading so that the pipe does not fill up
    if (this.#stopped) return;
    this.#timers.set("linger", this.#request.resultGraceMs ?? 2000, () => this.stop("lingered"));
  }

  #resetSilence(): void {
    const { idleMs } = this.#request;
    if (idleMs === undefined || this.frames.isFull || this.#parser.terminal || this.#stopped) return;
    this.#timers.set("idle", idleMs, () => this.#onSilence());
  }

  /** Restarts the whole idle time once the CLI no longer waits for this process. */
  #onSilence(): void {
    const isExcused = this.#isAwaited;
    this.#isAwaited = this.#request.isWaiting?.() === true;
    if (isExcused || this.#isAwaited) this.#resetSilence();
    else this.stop("silent");
  }

  /** Stops a process that has closed its output but does not exit: no result can arrive any more. */
  #outputEnded(): void {
    if (this.#stopped || this.#parser.terminal) return;
    this.#timers.set("linger", this.#request.resultGraceMs ?? 2000, () => this.stop("mute"));
  }

  #pauseReading(): void {
    if (this.#stopped) return;
    this.#process.stdout?.pause();
    this.#timers.drop("idle");
  }

  #resumeReading(): void {
    this.#process.stdout?.resume();
    this.#resetSilence();
  }

  #conclude({ exitCode, signal, failure, stopped, stages, durationMs }: CliEnding): CliEnd {
    this.#timers.clear();
    this.#stopped ??= stopped; // the process was stopped before it was started
    const stderr = this.#stderr.text();
    // If we stopped the process, its exit status says nothing about the CLI.
    const isForced = this.#stopped !== undefined && !this.#parser.terminal;
    const child = isForced ? { exit: null, signal: null } : { exit: exitCode, signal: signal || null };
    const { frames, error: fault, ...ending } = this.#parser.end({ ...child, stderr });
    for (const frame of frames) this.frames.push(frame, 0);
    this.frames.close();
    const error = failure ? this.#startError(failure) : this.#ownError(stderr);
    const stop = this.stopReason();
    return {
      ...ending,
      ...(error ? { outcome: "fail_closed" as const, error } : fault && { error: fault }),
      exitCode,
      signal,
      stderr,
      stages,
      wasToldToCancel: this.#wasToldToCancel,
      durationMs,
      ...(stop && { stop }),
    };
  }

  get #program(): string {
    return this.#request.program ?? this.#request.command;
  }

  /** The error for a CLI that this process stopped; undefined when its turn was already over. */
  #ownError(stderr: string): FrameError | UserError | undefined {
    const { timeoutMs, idleMs, signal } = this.#request;
    const killed = (code: "CLI_TIMEOUT" | "NO_RESULT", why: string) =>
      new FrameError(code, `${this.#program} ${why} and was killed.`, { stderr });
    switch (this.#stopped) {
      case "timedOut":
        return killed("CLI_TIMEOUT", `gave no result within ${timeoutMs} ms`);
      case "silent":
        return killed("CLI_TIMEOUT", `said nothing for ${idleMs} ms`);
      case "mute":
        return killed("NO_RESULT", "closed its output without a result, did not exit,");
      case "cancelled":
        return cancelled(signal);
      case "faulty":
      case "lingered":
      case undefined:
        return undefined;
    }
  }

  #startError({ code, message }: NonNullable<CliEnding["failure"]>): FrameError | UserError {
    if (code) return new UserError(code, message);
    return new FrameError("CLI_EXIT", `${this.#program} could not be started: ${message}`);
  }
}

class Timers {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  set(name: string, ms: number, call: () => void): void {
    clearTimeout(this.#timers.get(name));
    // A busy event loop runs timers before pipes, so first let pending input postpone this timer.
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
