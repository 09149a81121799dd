// BackgroundShells: commands that run on while the agent does other things.
import { join } from "node:path";
import { orAborted } from "../net/or-aborted.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { happensWithin } from "../process/clock.ts";
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
  /** Null while it runs, and where a signal ended it. */
  exitCode: number | null;
};

/** What happened since the last look. */
type BackgroundReading = BackgroundTask & {
  signal: string;
  newOutput: string;
  runningMs: number;
  /** A line of the new output matches what was waited for. */
  hasMatch: boolean;
  /** What it runs in, where it is confined. */
  sandbox: Sandbox | undefined;
};

type Task = {
  taskId: string;
  /** As the model gave it. */
  command: string;
  running: RunningProcess;
  outputFile: string;
  sandbox?: Sandbox | undefined;
  unread: BoundedBytes;
  startedAt: number;
  end: ProcessEnd | undefined;
  wasKilled: boolean;
  /** Called with each output, and without any at the end. */
  wake: Set<(chunk?: Buffer) => void>;
};

const mostRunning = 32;
const unreadBytes = 40_000;
/** A line that matches is seldom alone: so long for the rest of its burst. */
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

  /** Where long outputs lie, once there are any. */
  get folder(): string | undefined {
    return this.#folder;
  }

  /** Where the session's long outputs lie, also those of the foreground. */
  folderOf(sessionId: string): string {
    this.#folder ??= outputFolder(sessionId, this.#temporary);
    return this.#folder;
  }

  /** At the end of the run: a folder that no output came into is not left behind. */
  leaveFolder(): void {
    if (this.#folder !== undefined) leaveOutputFolder(this.#folder);
    this.#folder = undefined;
  }

  /** Rejects as `ProcessRunner.run` does when the command cannot be started. */
  async start(
    request: { command: string; argv: readonly string[]; cwd: string; sessionId: string } & Pick<
      ProcessRequest,
      "sandbox" | "readable" | "realPipes"
    >,
  ): Promise<{ taskId: string; pid: number; outputFile: string; folder: string }> {
    const count = [...this.#tasks.values()].filter((task) => !task.end).length;
    if (count >= mostRunning) {
      throw new Error(
        `${count} commands are already running in the background. Stop some first: Await with kill: true.`,
      );
    }
    const folder = this.folderOf(request.sessionId);
    const taskId = this.#nextId();
    // A resumed session has the same folder and counts from 1 again.
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
      onOutput: (_stream, chunk) => task && tell(task, chunk),
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

  /** A command that runs in the foreground can be asked to go on by itself. Returns how to take that back. */
  offer(callId: string, takeOver: () => Promise<boolean>): () => void {
    this.#offered.set(callId, takeOver);
    return () => this.#offered.delete(callId);
  }

  /** The command of this call goes on by itself. False when there is no such command. */
  async takeOver(callId: string): Promise<boolean> {
    return (await this.#offered.get(callId)?.()) ?? false;
  }

  /** A command that was started elsewhere and goes on by itself. Its output from now on is given to `push`. */
  adopt(
    command: string,
    running: RunningProcess,
    { outputFile, sandbox }: Pick<Task, "outputFile" | "sandbox">,
  ): { taskId: string; push(chunk: Buffer): void } {
    const task = this.#add({ taskId: this.#nextId(), command, running, outputFile, sandbox });
    return { taskId: task.taskId, push: (chunk) => tell(task, chunk) };
  }

  /** Output since the last look. Waits for the end, or for a line that matches `pattern`, at most `blockUntilMs`. */
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

  /** Waits until it is gone. False when there is no such task. */
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

  /** Waits until nothing runs any more, at most so long. */
  async settle(limitMs: number, signal: AbortSignal): Promise<void> {
    const running = [...this.#tasks.values()].filter((task) => !task.end);
    if (running.length === 0) return;
    const ended = Promise.all(running.map((task) => task.running.ended)).catch(() => {});
    await happensWithin(
      orAborted(ended, signal).catch(() => {}),
      limitMs,
    );
  }

  /** Ends what still runs, and names it. */
  async endAll(): Promise<BackgroundTask[]> {
    const running = [...this.#tasks.values()].filter((task) => !task.end);
    await Promise.all(running.map((task) => this.kill(task.taskId)));
    return running.map(describeTask);
  }
}

function tell(task: Task, chunk: Buffer): void {
  task.unread.push(chunk);
  for (const call of task.wake) call(chunk);
}

function describeTask(task: Task): BackgroundTask {
  const { taskId, command, outputFile } = task;
  const status = !task.end ? "running" : task.wasKilled || task.end.signal !== "" ? "killed" : "exited";
  return { taskId, command, pid: task.running.pid, outputFile, status, exitCode: task.end?.exitCode ?? null };
}

/** True when a line matched. */
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

/** A line that grows longer than this without an end is looked at in parts. */
const longestLine = 4096;

/** Takes text in pieces. An expression that takes too long, which a model may well write, matches nothing any more. */
function lineMatcher(test: PatternTest): (text: string) => boolean {
  let line = "";
  return (text) => {
    const looked = line + text;
    line = looked.slice(looked.lastIndexOf("\n") + 1).slice(-longestLine);
    return looked !== "" && test(looked) === true;
  };
}
