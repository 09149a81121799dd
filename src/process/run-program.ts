// Runs one program to its end and keeps a bounded amount of its output.
import { BoundedBytes } from "./bounded-bytes.ts";
import { type ProcessEnding, Supervisor, type SupervisorRequest } from "./supervisor.ts";

export type ProgramRequest = Pick<
  SupervisorRequest,
  "command" | "cwd" | "env" | "input" | "keepOpen" | "timeoutMs" | "graceMs" | "signal" | "leftovers" | "plain"
> & {
  /** The most bytes kept of each stream. */
  keepBytes?: number;
};

export type ProgramEnd = Pick<ProcessEnding, "exitCode" | "signal" | "stages" | "durationMs" | "failure"> & {
  stdout: Buffer;
  stderr: string;
  /** The program wrote more than was kept. */
  isCut: boolean;
  timedOut: boolean;
  cancelled: boolean;
};

/** Never rejects: `failure` says why the program could not be started. */
export async function runProgram({ keepBytes = 1024 * 1024, ...request }: ProgramRequest): Promise<ProgramEnd> {
  const kept = { stdout: new BoundedBytes(keepBytes), stderr: new BoundedBytes(keepBytes) };
  const supervisor = new Supervisor({ ...request, onOutput: (stream, chunk) => kept[stream].push(chunk) });
  const { stopped, leftovers, notes, ...end } = await supervisor.ended;
  return {
    ...end,
    stdout: kept.stdout.isCut ? Buffer.from(kept.stdout.text()) : kept.stdout.bytes(),
    stderr: kept.stderr.text(),
    isCut: kept.stdout.isCut || kept.stderr.isCut,
    timedOut: stopped === "timedOut",
    cancelled: stopped === "cancelled",
  };
}
