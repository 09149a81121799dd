// ProcessTree: finds and ends all descendants of one spawned process, wherever they went.
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export type Row = {
  pid: number;
  parent: number;
  group: number;
  session: number;
  startedAt: string;
  environment(): string | Buffer;
  /** Returns the files that stdout and stderr of the process are connected to. */
  streams(): string[];
};

/**
 * Recognises descendants by group and session, by parent, by the mark in their environment, and by the output pipe that they hold. A
 * process that sheds all of these at once (double fork, `env -i`, own session, output elsewhere) before it is first seen can be held
 * only by a PID namespace, that is by the sandbox.
 */
export class ProcessTree {
  readonly pid: number;
  readonly mark: string;
  readonly #spawnedAt = Date.now();
  readonly #rootStartedAt: string;
  readonly #pipes: ReadonlySet<string>;
  /** Set if the pipes are a guess: a process with one then counts only if its parent is the child or one of these. */
  readonly #fosterParents: ReadonlySet<number> | undefined;
  /** The start time of every descendant ever seen, by process id, so that it counts after its parent has ended. */
  readonly #known = new Map<number, string>();
  readonly #sessions = new Set<number>();
  #isUnsure = false;

  constructor(pid: number, mark: string, outputs: readonly (Readable | null)[] = []) {
    this.pid = pid;
    this.mark = mark;
    this.#sessions.add(pid);
    this.#rootStartedAt = statRow(pid)?.startedAt ?? "";
    // "/dev/null" and terminals are shared with unrelated processes; a pipe or socket was made for this child.
    const pipes = streamsOf(pid).filter((stream) => /^(pipe|socket):/.test(stream));
    // On a busy machine, a short command may end before its streams can be read.
    this.#pipes = new Set(pipes.length > 0 ? pipes : outputs.flatMap(farEnd));
    // A process whose parent has exited becomes a child of the first process or of another ancestor of this one.
    if (pipes.length === 0 && this.#pipes.size > 0) this.#fosterParents = ancestors();
  }

  /** Reports whether the group has any process left. One system call, where searching all processes costs more than a short command. */
  hasGroup(): boolean {
    try {
      process.kill(-this.pid, 0);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  }

  /** Sends a signal to the group and to the descendants that left it. */
  async signal(name: NodeJS.Signals): Promise<void> {
    if (process.platform === "win32") return killTreeOnWindows(this.pid);
    // Search before signalling: once the parents are dead, the links to them are gone.
    const found = await this.#find();
    kill(-this.pid, name);
    for (const row of found) kill(row.pid, name);
  }

  /** Ends everything that is left: asks, waits `politeMs`, kills, searches again until none is left. Returns how many there were. */
  async end({ politeMs = 250, withinMs = 5000 } = {}): Promise<number> {
    // Windows knows the parent of a process only while the parent is running
    if (process.platform === "win32") return 0;
    let found = await this.#find();
    // A process in the middle of exec has no environment for a moment, so look again.
    for (const pause of [3, 10, 30]) {
      if (found.length > 0 || !this.#isUnsure) break;
      await sleep(pause);
      found = await this.#find();
    }
    if (found.length === 0) return 0;
    // Wait briefly, since most processes are already exiting: the end of a pipeline, or a helper whose input has ended.
    await sleep(10);
    found = await this.#find();
    const count = found.length;
    const startedAt = Date.now();
    const asked = new Set<number>();
    for (let pause = 5; found.length > 0 && Date.now() - startedAt < politeMs; pause = Math.min(pause * 2, 50)) {
      const fresh = found.filter((row) => !asked.has(row.pid));
      if (asked.size > 0 && fresh.length > 0) break; // stop waiting for a command that keeps forking
      for (const { pid } of fresh) {
        asked.add(pid);
        kill(pid, "SIGTERM");
        kill(pid, "SIGCONT"); // a suspended process cannot handle SIGTERM
      }
      await sleep(pause);
      found = await this.#find();
    }
    const killed = new Set<number>();
    while (found.length > 0 && Date.now() - startedAt < withinMs) {
      const fresh = found.filter((row) => !killed.has(row.pid));
      if (fresh.some((row) => row.group === this.pid)) kill(-this.pid, "SIGKILL");
      for (const { pid } of fresh) {
        killed.add(pid);
        kill(pid, "SIGKILL");
      }
      if (fresh.length === 0) await sleep(5); // all processes were killed and are still exiting
      found = await this.#find();
    }
    return count;
  }

  /** Kills all processes like `end`, but at once and synchronously, for use while our own process is exiting. */
  endNow(): void {
    if (process.platform === "win32") {
      killTreeOnWindows(this.pid);
      return;
    }
    const found = () => this.select(hasProc() ? runToEnd(this.#rows()) : rowsOfPsNow());
    for (let round = 0; round < 50; round++) {
      const rows = found();
      kill(-this.pid, "SIGKILL");
      kill(this.pid, "SIGKILL");
      for (const row of rows) kill(row.pid, "SIGKILL");
      if (rows.length === 0) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3);
    }
  }

  async #find(): Promise<Row[]> {
    if (!hasProc()) return this.select(await rowsOfPs());
    const rows = this.#rows();
    for (;;) {
      const step = rows.next();
      if (step.done) return this.select(step.value);
      await new Promise((resolve) => setImmediate(resolve)); // let timers run between thousands of processes
    }
  }

  /** Lists the processes that are young enough to descend from the child. */
  *#rows(): Generator<void, Row[]> {
    const rows: Row[] = [];
    // The process id that the system assigned last, or 0 if unknown.
    const last = Number(readShort("/proc/loadavg")?.split(" ")[4] ?? 0);
    // Pids are assigned in order, so descendants have higher ones, or lower ones after a wrap-around. After a while all pids may have
    // been reused; then the start time decides.
    const mayHaveComeRound = Date.now() - this.#spawnedAt > 20_000;
    // If the newest process of the system is still the child, it has started no other.
    if (last === this.pid && !mayHaveComeRound) return rows;
    let read = 0;
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      if (!(pid > 1) || pid === process.pid) continue;
      if (!mayHaveComeRound && pid < this.pid && !(last < this.pid && pid <= last)) continue;
      const row = statRow(pid);
      if (row && Number(row.startedAt) >= Number(this.#rootStartedAt)) rows.push(row);
      if (++read % 250 === 0) yield;
    }
    return rows;
  }

  /** Picks the descendants out of these processes. */
  select(rows: readonly Row[]): Row[] {
    const mine = new Map<number, Row>();
    const bare: Row[] = [];
    const take = (row: Row) => {
      mine.set(row.pid, row);
      this.#known.set(row.pid, row.startedAt);
      this.#sessions.add(row.session);
    };
    for (const row of rows) {
      if (row.group === this.pid || this.#sessions.has(row.session) || this.#known.get(row.pid) === row.startedAt)
        take(row);
      else {
        const environment = row.environment();
        const streams = environment.includes(`${this.mark}=`) ? undefined : row.streams();
        if (!streams || (streams.some((stream) => this.#pipes.has(stream)) && this.#mayBeOurs(row))) take(row);
        // Perhaps in the middle of exec. One whose parent lives is found by that; an orphan has one of these as its parent.
        else if (environment.length === 0 && ancestors().has(row.parent)) bare.push(row);
      }
    }
    for (let grown = -1; grown !== mine.size; ) {
      grown = mine.size;
      for (const row of rows) {
        if (!mine.has(row.pid) && (row.parent === this.pid || mine.has(row.parent))) take(row);
      }
    }
    this.#isUnsure = bare.some((row) => !mine.has(row.pid));
    return [...mine.values()];
  }

  #mayBeOurs(row: Row): boolean {
    return this.#fosterParents === undefined || row.parent === this.pid || this.#fosterParents.has(row.parent);
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or belongs to another user (sudo).
  }
}

let procIsThere: boolean | undefined;
function hasProc(): boolean {
  return (procIsThere ??= process.platform === "linux" && statRow(process.pid) !== undefined);
}

/** Calls `look`; returns undefined if it throws, because the process is gone or may not be inspected. */
function ifThere<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const page = Buffer.alloc(1024);

/** Reads a file of a line. `readFileSync` would ask for its size, make a buffer of 8 kB and look for more. */
function readShort(path: string): string | undefined {
  return ifThere(() => {
    const handle = openSync(path, "r");
    try {
      return page.toString("latin1", 0, readSync(handle, page));
    } finally {
      closeSync(handle);
    }
  });
}

/** Reads a process from /proc. Returns undefined if it is gone or a zombie. */
function statRow(pid: number): Row | undefined {
  const text = readShort(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name may contain blanks and brackets; the fields after the last bracket do not.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startedAt: fields[19] ?? "",
    environment: () => ifThere(() => readFileSync(`/proc/${pid}/environ`)) ?? "",
    streams: () => streamsOf(pid),
  };
}

function streamsOf(pid: number): string[] {
  return [1, 2].flatMap((descriptor) => ifThere(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? []);
}

const ancestorsFound = new Set([1]);

/** The pids of this process and all its ancestors: when one of them ends, its children pass to one further up. */
function ancestors(): Set<number> {
  for (let pid = process.pid; pid > 1 && !ancestorsFound.has(pid); pid = statRow(pid)?.parent ?? 0)
    ancestorsFound.add(pid);
  return ancestorsFound;
}

/** Returns the child's end of an output socket: the ends of a socket pair are created together and numbered in order. */
function farEnd(output: Readable | null): string[] {
  const descriptor = (output as { _handle?: { fd?: number } } | null)?._handle?.fd;
  if (descriptor === undefined || descriptor < 0 || !hasProc()) return [];
  const link = ifThere(() => readlinkSync(`/proc/self/fd/${descriptor}`)) ?? "";
  const number = /^socket:\[(\d+)\]$/.exec(link)?.[1];
  return number === undefined ? [] : [`socket:[${Number(number) + 1}]`];
}

function runToEnd<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

// Without /proc (macOS, BSD), `ps` lists the processes; -E adds the environment of the user's own processes.
const psArguments = ["-axEww", "-o", "pid=,ppid=,pgid=,sess=,stat=,lstart=,command="];
const psBytes = 64 * 1024 * 1024;

async function rowsOfPs(): Promise<Row[]> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  const text = await new Promise<string>((resolve) => {
    execFile("/bin/ps", psArguments, { maxBuffer: psBytes }, (_error, stdout) => resolve(stdout));
  });
  return parsePs(text);
}

function rowsOfPsNow(): Row[] {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  return parsePs(spawnSync("/bin/ps", psArguments, { maxBuffer: psBytes, encoding: "utf8" }).stdout ?? "");
}

export function parsePs(text: string): Row[] {
  const rows: Row[] = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line);
    if (!match) continue;
    const [, pid, parent, group, session, state, startedAt, command] = match;
    if (state!.startsWith("Z") || Number(pid) <= 1 || Number(pid) === process.pid) continue;
    rows.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      // macOS prints 0 as the session of every process; use a number that no other process has.
      session: Number(session) || -Number(pid),
      startedAt: startedAt!,
      environment: () => command!,
      streams: () => [],
    });
  }
  return rows;
}

function killTreeOnWindows(pid: number): void {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"], { windowsHide: true });
}
