// Runs the tools' processes, in the sandbox where there is one, and captures a bounded amount of their output.

import { BoundedBytes } from "../process/bounded-bytes.ts";
import { type Enclosure, type ProcessEnding, Supervisor, type SupervisorRequest } from "../process/supervisor.ts";
import { UserError } from "../protocol/error-codes.ts";
import { toolEnvironment } from "../redact/tool-environment.ts";
import { CharacterStream, SpillFile } from "./output.ts";
import type { Sandbox } from "./sandbox/index.ts";

export { toolEnvironment };

export type ProcessRequest = Pick<
  SupervisorRequest,
  "command" | "cwd" | "onChannel" | "signal" | "timeoutMs" | "graceMs" | "leftovers"
> & {
  /** All environment variables of the process; toolEnvironment() by default. */
  env?: Record<string, string>;
  /** Standard input, empty by default; the command need not read it. With `open`, it is written to while the command runs. */
  input?: string | { open: true };
  /** Runs the command in this sandbox or not at all. `readable` lists folders outside the workspace that it must be able to read. */
  sandbox?: Sandbox;
  readable?: readonly string[];
  /** Gives the command pipes that it can open by path (/dev/stdout); the default streams are sockets, which cannot be opened. */
  realPipes?: boolean;
  /** The maximum number of bytes kept in memory per stream: half from the beginning, half from the end. */
  keepBytes?: number;
  /** File that gets the whole interleaved output once `spillAfterBytes` (default `keepBytes`) is exceeded. */
  spillTo?: string;
  spillAfterBytes?: number;
  /** Called with each chunk of output. A chunk ends with a complete character. */
  onOutput?(stream: "stdout" | "stderr", chunk: Buffer): void;
};

export type ProcessEnd = Omit<ProcessEnding, "stopped" | "failure" | "notBegun"> & {
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
};

export interface ProcessRunner {
  run(request: ProcessRequest): Promise<ProcessEnd>;
  start(request: ProcessRequest): RunningProcess;
  /** Runs a command that the user typed, with this process's own input and output, and forwards signals to it. */
  attach(request: Pick<ProcessRequest, "command" | "cwd" | "env" | "sandbox">): Promise<AttachedEnd>;
  /** Stops all running processes, in stages, and waits for them. */
  endAll(): Promise<void>;
}

export type AttachedEnd = Pick<ProcessEnd, "exitCode" | "signal" | "notes">;

export interface RunningProcess {
  /** The process id, or 0 if the process could not be started; `ended` then rejects with the reason. */
  pid: number;
  ended: Promise<ProcessEnd>;
  /** Writes to an open input or to the channel. Resolves when there is room for more; rejects when the reader is gone. */
  write(text: string): Promise<void>;
  stop(): void;
  /** Detaches the process from its time limit and signal. All of its output is then written to the spill file. */
  letGo(): void;
}

/** Creates the runner of the tools' programs. `keys` are secret values, which are removed from their environment under any name. */
export function createProcessRunner(
  options: { env?: NodeJS.ProcessEnv; keys?: readonly string[] } = {},
): ProcessRunner {
  const running = new Set<Supervisor>();
  let environment: Record<string, string> | undefined;

  function supervise(
    request: ProcessRequest,
    more: Pick<SupervisorRequest, "inheritStreams" | "onOutput" | "leftovers" | "plain">,
  ): Supervisor {
    const { input, cwd } = request;
    const env = {
      ...(request.env ?? (environment ??= withoutColour(toolEnvironment(options.env ?? process.env, options.keys)))),
      PWD: cwd,
    };
    const isOpen = typeof input === "object";
    const supervisor: Supervisor = new Supervisor({
      ...request,
      env,
      enter: () => enter(request, env),
      input: isOpen ? "" : input,
      keepOpen: isOpen,
      // Ask a program with an open stdin to end by closing stdin. Other programs cannot be asked this way.
      cancel: () => isOpen && supervisor.stdin?.end() !== undefined,
      ...more,
    });
    running.add(supervisor);
    const remove = () => running.delete(supervisor);
    supervisor.ended.then(remove, remove);
    return supervisor;
  }

  function start(request: ProcessRequest): RunningProcess {
    const output = new Output(request);
    let isLetGo = false;
    const begin = () => {
      const supervisor = supervise(request, {
        onOutput: (stream, chunk) => output.push(stream, chunk),
        plain: request.leftovers === "ignore",
      });
      if (isLetGo) supervisor.letGo();
      return supervisor;
    };
    let supervisor = begin();
    if (supervisor.pid !== 0) output.open();
    const ended = untilBegun(supervisor, () => (supervisor = begin())).then((ending) => {
      const { stopped, ...end } = startedOnly(ending);
      return { ...end, ...output.end(), timedOut: stopped === "timedOut", cancelled: stopped === "cancelled" };
    });
    ended.catch(() => {}); // callers that only stop the process need not handle `ended`
    return {
      pid: supervisor.pid,
      ended,
      write: (text) => supervisor.write(text),
      stop: () => supervisor.stop("cancelled"),
      letGo() {
        isLetGo = true;
        supervisor.letGo();
        output.spillNow();
      },
    };
  }

  async function attach(request: ProcessRequest): Promise<AttachedEnd> {
    // The command runs in its own session: terminal signals reach only this process, which forwards them.
    const begin = () => supervise(request, { inheritStreams: true, leftovers: "ignore" });
    let supervisor = begin();
    const pass = (name: NodeJS.Signals) => void supervisor.signal(name);
    for (const name of passedSignals) process.on(name, pass);
    try {
      return startedOnly(await untilBegun(supervisor, () => (supervisor = begin())));
    } finally {
      for (const name of passedSignals) process.off(name, pass);
    }
  }

  return {
    start,
    attach,
    run: (request) => start(request).ended,
    async endAll() {
      const supervisors = [...running];
      for (const supervisor of supervisors) supervisor.stop("cancelled");
      await Promise.allSettled(supervisors.map(({ ended }) => ended));
    },
  };
}

/** Turns colours off unless the user forces them. Setting both makes programs complain. */
function withoutColour(env: Record<string, string>): Record<string, string> {
  return "FORCE_COLOR" in env || "CLICOLOR_FORCE" in env ? env : { NO_COLOR: "1", ...env };
}

const passedSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];

/** Pipes through `cat` outside the sandbox: inside, it would be killed before it has passed on the last output. */
const withRealPipes = 'exec > >(exec cat) 2> >(exec cat >&2); exec "$@"';

function enter({ command, cwd, sandbox, readable, realPipes }: ProcessRequest, env: Record<string, string>): Enclosure {
  const entered = sandbox?.enter({ command, cwd, env, readable });
  const inside: Enclosure = entered ?? { command, env };
  if (!realPipes) return inside;
  return { ...inside, command: [entered?.bash ?? "bash", "-c", withRealPipes, "pipes", ...inside.command] };
}

const maxTries = 8;

/**
 * Retries when a file that the sandbox mounts, such as another program's socket, vanished during the setup. The command
 * has not started then.
 */
async function untilBegun(first: Supervisor, again: () => Supervisor): Promise<ProcessEnding> {
  let ending = await first.ended;
  for (let tries = 1; tries < maxTries && ending.notBegun !== undefined && !ending.stopped; tries++)
    ending = await again().ended;
  return ending;
}

function startedOnly({ failure, notBegun, ...ending }: ProcessEnding): Omit<ProcessEnding, "failure" | "notBegun"> {
  if (notBegun !== undefined && !ending.stopped)
    throw new UserError("SANDBOX_UNAVAILABLE", `The sandbox could not be made for this command: ${notBegun}`);
  if (!failure) return ending;
  throw failure.code ? new UserError(failure.code, failure.message) : failure.cause;
}

/** Collects the two streams of a command, and both interleaved. */
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
    // Start the spill file before the buffered beginning of the output is dropped from memory.
    this.#spillAfter = Math.min(request.spillAfterBytes ?? keepBytes, keepBytes);
  }

  get total(): number {
    return this.#streams.stdout.kept.total + this.#streams.stderr.kept.total;
  }

  /** Creates a file that is to hold everything at the start, so that it can be read while the command runs. */
  open(): void {
    const { spillTo } = this.#request;
    if (spillTo !== undefined && this.#spillAfter === 0) this.#spill = new SpillFile(spillTo);
  }

  /** Starts the spill file with the output so far, which is still complete: nothing is cut before it is spilled. */
  spillNow(): void {
    const { spillTo } = this.#request;
    if (spillTo === undefined || this.#spill) return;
    this.#spill = new SpillFile(spillTo);
    const before = this.#interleaved.bytes();
    if (before.length > 0) this.#spill.write(before);
  }

  push(name: "stdout" | "stderr", chunk: Buffer): void {
    const stream = this.#streams[name];
    stream.kept.push(chunk);
    this.#pass(name, stream.characters.push(chunk));
  }

  #pass(name: "stdout" | "stderr", bytes: Buffer): void {
    if (bytes.length === 0) return;
    const { onOutput } = this.#request;
    if (this.#interleaved.total + bytes.length > this.#spillAfter) this.spillNow();
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
