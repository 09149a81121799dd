// BackgroundShells: runs commands in the background while the agent does other work.
import { join } from "node:path";
import { orAborted } from "../net/or-aborted.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { settlesWithin } from "../process/clock.ts";
import type { PatternTest } from "../text/pattern-in-time.ts";
import { leaveOutputFolder, outputFolder } from "./output-folder.ts";
import type { ProcessEnd, ProcessRequest, ProcessRunner, RunningProcess } from "./process.ts";
import type { Sandbox } from "./sandbox/index.ts";

type BackgroundTask = {
  taskId: string;
  command: string;
  pid: number;
  outputFile: string;
  status: "running" | "exited" | "killed";
  /** The exit code; null while the command still runs, or if a signal ended it. */
  exitCode: number | null;
};

/** The state of a background command, and its new output since the last read. */
type BackgroundReading = BackgroundTask & {
  signal: string;
  newOutput: string;
  runningMs: number;
  /** Whether a line of the new output matches the pattern that was waited for. */
  hasMatch: boolean;
  /** The sandbox that the background command runs in; undefined if it is not confined. */
  sandbox: Sandbox | undefined;
};

type Task = {
  taskId: string;
  /** The command line as the model wrote it. */
  command: string;
  running: RunningProcess;
  outputFile: string;
  sandbox?: Sandbox | undefined;
  unread: BoundedBytes;
  startedAt: number;
  end: ProcessEnd | undefined;
  wasKilled: boolean;
  /** Called with each chunk of output, and without an argument at the end. */
  wake: Set<(chunk?: Buffer) => void>;
};

const maxRunning = 32;
const unreadBytes = 40_000;
/** After a matching line, how many milliseconds to wait for more output that belongs to it. */
const quietMs = 100;
const dayMs = 86_400_000;

export class BackgroundShells {
  readonly #processes: ProcessRunner;
  readonly #tasks = new Map<string, Task>();
  readonly #offered = new Map<string, () => Promise<boolean>>();
  readonly #temporary: string | undefined;
  #folder: string | undefined;

  constructor(processes: ProcessRunner, temporary?: string) {
    this.#processes = processes;
    this.#temporary = temporary;
  }

  /** The folder for long outputs of commands; undefined until the first one is written. */
  get folder(): string | undefined {
    return this.#folder;
  }

  /** Returns the folder for the session's long outputs, including those of foreground commands; creates it if needed. */
  outputFolder(sessionId: string): string {
    this.#folder ??= outputFolder(sessionId, this.#temporary);
    return this.#folder;
  }

  /** Called at the end of the run: removes the folder if it holds no output. */
  leaveFolder(): void {
    if (this.#folder !== undefined) leaveOutputFolder(this.#folder);
    this.#folder = undefined;
  }

  /** Starts a command. Rejects as `ProcessRunner.run` does when it cannot be started. */
  async start(
    request: { command: string; argv: readonly string[]; cwd: string; sessionId: string } & Pick<
      ProcessRequest,
      "sandbox" | "readable" | "realPipes"
    >,
  ): Promise<{ taskId: string; pid: number; outputFile: string; folder: string }> {
    const count = [...this.#tasks.values()].filter((task) => !task.end).length;
    if (count >= maxRunning) {
      throw new Error(
        `${count} commands are already running in the background. Stop some first: Await with kill: true.`,
      );
    }
    const folder = this.outputFolder(request.sessionId);
    const taskId = this.#nextId();
    // A resumed session reuses the folder and counts from 1 again, so the name includes the time.
    const outputFile = join(folder, `${taskId}-${Date.now().toString(36)}.txt`);
    let task: Task | undefined;
    const running = this.#processes.start({
      command: request.argv,
      cwd: request.cwd,
      sandbox: request.sandbox,
      readable: request.readable,
      realPipes: request.realPipes,
      timeoutMs: dayMs,
      keepBytes: 1024,
      spillTo: outputFile,
      spillAfterBytes: 0,
      onOutput: (_stream, chunk) => task && appendOutput(task, chunk),
    });
    if (running.pid === 0) await running.ended;
    task = this.#add({ taskId, command: request.command, running, outputFile, sandbox: request.sandbox });
    return { taskId, pid: running.pid, outputFile, folder };
  }

  #nextId(): string {
    return `shell_${this.#tasks.size + 1}`;
  }

  #add(started: Pick<Task, "taskId" | "command" | "running" | "outputFile" | "sandbox">): Task {
    const task: Task = {
      ...started,
      unread: new BoundedBytes(unreadBytes),
      startedAt: Date.now(),
      end: undefined,
      wasKilled: false,
      wake: new Set(),
    };
    this.#tasks.set(task.taskId, task);
    task.running.ended.then(
      (end) => {
        task.end = end;
        for (const call of task.wake) call();
      },
      () => {},
    );
    return task;
  }

  /** Registers a foreground command that can be moved to the background. Returns a function that takes the offer back. */
  offer(callId: string, takeOver: () => Promise<boolean>): () => void {
    this.#offered.set(callId, takeOver);
    return () => this.#offered.delete(callId);
  }

  /** Moves the command that this tool call runs to the background. Returns false if it runs none. */
  async takeOver(callId: string): Promise<boolean> {
    return (await this.#offered.get(callId)?.()) ?? false;
  }

  /** Adds a running command that was started elsewhere. The caller passes its further output to `push`. */
  adopt(
    command: string,
    running: RunningProcess,
    { outputFile, sandbox }: Pick<Task, "outputFile" | "sandbox">,
  ): { taskId: string; push(chunk: Buffer): void } {
    const task = this.#add({ taskId: this.#nextId(), command, running, outputFile, sandbox });
    return { taskId: task.taskId, push: (chunk) => appendOutput(task, chunk) };
  }

  /** Returns the output since the last read. Waits at most `blockUntilMs` for the end or for a line that matches `pattern`. */
  async read(
    taskId: string,
    options: { blockUntilMs?: number; pattern?: PatternTest | undefined; signal?: AbortSignal } = {},
  ): Promise<BackgroundReading | undefined> {
    const task = this.#tasks.get(taskId);
    if (!task) return undefined;
    const hasMatch = await untilEndOrMatch(task, options);
    const newOutput = task.unread.text();
    task.unread = new BoundedBytes(unreadBytes);
    return {
      ...describeTask(task),
      signal: task.end?.signal ?? "",
      newOutput,
      runningMs: task.end?.durationMs ?? Date.now() - task.startedAt,
      hasMatch,
      sandbox: task.sandbox,
    };
  }

  /** Kills a task and waits until it is gone. Returns false when there is no such task. */
  async kill(taskId: string): Promise<boolean> {
    const task = this.#tasks.get(taskId);
    if (!task) return false;
    if (!task.end) {
      task.wasKilled = true;
      task.running.stop();
      await task.running.ended;
    }
    return true;
  }

  list(): BackgroundTask[] {
    return [...this.#tasks.values()].map(describeTask);
  }

  get isRunning(): boolean {
    return [...this.#tasks.values()].some((task) => !task.end);
  }

  /** Waits until no command runs, at most `limitMs`. */
  async settle(limitMs: number, signal: AbortSignal): Promise<void> {
    const running = [...this.#tasks.values()].filter((task) => !task.end);
    if (running.length === 0) return;
    const ended = Promise.all(running.map((task) => task.running.ended)).catch(() => {});
    await settlesWithin(
      orAborted(ended, signal).catch(() => {}),
      limitMs,
    );
  }

  /** Kills all background commands that still run, and returns them. */
  async endAll(): Promise<BackgroundTask[]> {
    const running = [...this.#tasks.values()].filter((task) => !task.end);
    await Promise.all(running.map((task) => this.kill(task.taskId)));
    return running.map(describeTask);
  }
}

function appendOutput(task: Task, chunk: Buffer): void {
  task.unread.push(chunk);
  for (const call of task.wake) call(chunk);
}

function describeTask(task: Task): BackgroundTask {
  const { taskId, command, outputFile } = task;
  const status = !task.end ? "running" : task.wasKilled || task.end.signal !== "" ? "killed" : "exited";
  return { taskId, command, pid: task.running.pid, outputFile, status, exitCode: task.end?.exitCode ?? null };
}

/** Waits until the command ends or prints a matching line. Resolves to true for a matching line. */
async function untilEndOrMatch(
  task: Task,
  {
    blockUntilMs = 0,
    pattern,
    signal,
  }: { blockUntilMs?: number; pattern?: PatternTest | undefined; signal?: AbortSignal },
): Promise<boolean> {
  const matches = pattern ? lineMatcher(pattern) : () => false;
  let hasMatch = matches(task.unread.text());
  if (hasMatch || blockUntilMs <= 0 || task.end) return hasMatch;
  await new Promise<void>((resolve) => {
    let pause: NodeJS.Timeout | undefined;
    const done = () => {
      clearTimeout(limit);
      clearTimeout(pause);
      task.wake.delete(look);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const look = (chunk?: Buffer) => {
      if (!chunk) return done();
      if (hasMatch || !matches(chunk.toString("utf8"))) return;
      hasMatch = true;
      pause = setTimeout(done, quietMs);
    };
    const limit = setTimeout(done, blockUntilMs);
    task.wake.add(look);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted) done();
  });
  return hasMatch;
}

/** A line that grows longer than this without a line feed is matched in parts. */
const longestLine = 4096;

/** Returns a matcher that takes text in chunks. A pattern that takes too long to evaluate stops matching. */
function lineMatcher(test: PatternTest): (text: string) => boolean {
  let line = "";
  return (text) => {
    const looked = line + text;
    line = looked.slice(looked.lastIndexOf("\n") + 1).slice(-longestLine);
    return looked !== "" && test(looked) === true;
  };
}
