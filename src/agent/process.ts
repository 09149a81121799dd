// Runs the tools' processes: in the sandbox where there is one, with as much of their output as anyone can use.

import { toolEnvironment } from "../policy/tool-environment.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { type Enclosure, type ProcessEnding, Supervisor, type SupervisorRequest } from "../process/supervisor.ts";
import { UserError } from "../protocol/error-codes.ts";
import { CharacterStream, SpillFile } from "./output.ts";
import type { Sandbox } from "./sandbox/index.ts";

export { toolEnvironment };

export type ProcessRequest = Pick<
  SupervisorRequest,
  "command" | "cwd" | "onChannel" | "signal" | "timeoutMs" | "graceMs" | "leftovers"
> & {
  /** The whole environment; else toolEnvironment(). */
  env?: Record<string, string>;
  /** Its standard input; else that is empty. A command need not read it. `open`: it is written to while it runs. */
  input?: string | { open: true };
  /** Runs it in there, or not at all. `readable`: folders outside the workspace that it must be able to read. */
  sandbox?: Sandbox;
  readable?: readonly string[];
  /** Streams that can be opened by their names: ours are sockets to the kernel, and those cannot. */
  realPipes?: boolean;
  /** Most bytes kept in memory for each stream, half of them from the beginning and half from the end. */
  keepBytes?: number;
  /** File that gets the whole interleaved output once `spillAfterBytes` (else `keepBytes`) is passed. */
  spillTo?: string;
  spillAfterBytes?: number;
  /** Live, in whole characters. */
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
  /** With our own input and output, and the signals that we get. For a command that the user typed. */
  attach(request: Pick<ProcessRequest, "command" | "cwd" | "env" | "sandbox">): Promise<AttachedEnd>;
  /** Stops whatever still runs, in stages, and waits for it. */
  endAll(): Promise<void>;
}

export type AttachedEnd = Pick<ProcessEnd, "exitCode" | "signal" | "notes">;

export interface RunningProcess {
  /** 0 when it could not be started; `ended` says why. */
  pid: number;
  ended: Promise<ProcessEnd>;
  /** To an open input, or to the channel. Resolves when it has room for more; rejects when nobody reads it any more. */
  write(text: string): Promise<void>;
  stop(): void;
  /** It goes on without its time limit and its signal, and everything that it says goes to the file for its output. */
  letGo(): void;
}

/** `keys`: values in use, which no tool may see under whatever name. */
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
      // The end of an open input says it; a command has none to hear it from.
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
    ended.catch(() => {}); // whoever only stops it need not look at `ended`
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
    // In a session of its own: a signal from the terminal comes to us alone, and goes on to the command itself.
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

/** Whoever reads the output wants no colours, unless the user does. Both together make programs complain. */
function withoutColour(env: Record<string, string>): Record<string, string> {
  return "FORCE_COLOR" in env || "CLICOLOR_FORCE" in env ? env : { NO_COLOR: "1", ...env };
}

const passedSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];

/** By way of `cat`, outside of a sandbox: there it would be ended before it has passed on the last of it. */
const withRealPipes = 'exec > >(exec cat) 2> >(exec cat >&2); exec "$@"';

function enter({ command, cwd, sandbox, readable, realPipes }: ProcessRequest, env: Record<string, string>): Enclosure {
  const entered = sandbox?.enter({ command, cwd, env, readable });
  const inside: Enclosure = entered ?? { command, env };
  if (!realPipes) return inside;
  return { ...inside, command: [entered?.bash ?? "bash", "-c", withRealPipes, "pipes", ...inside.command] };
}

const mostTries = 8;

/**
 * What a sandbox is made of may be gone in the moment in which it is mounted: a socket of another program, a folder. Then the
 * command has not begun, and the next look sees what is there.
 */
async function untilBegun(first: Supervisor, again: () => Supervisor): Promise<ProcessEnding> {
  let ending = await first.ended;
  for (let tries = 1; tries < mostTries && ending.notBegun !== undefined && !ending.stopped; tries++)
    ending = await again().ended;
  return ending;
}

function startedOnly({ failure, notBegun, ...ending }: ProcessEnding): Omit<ProcessEnding, "failure" | "notBegun"> {
  if (notBegun !== undefined && !ending.stopped)
    throw new UserError("SANDBOX_UNAVAILABLE", `The sandbox could not be made for this command: ${notBegun}`);
  if (!failure) return ending;
  throw failure.code ? new UserError(failure.code, failure.message) : failure.cause;
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

  /** What came so far is there whole: nothing was spilled, so nothing was cut. */
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
