// Runs one program to its end and keeps a bounded amount of its output.
import { BoundedBytes } from "./bounded-bytes.ts";
import { type ProcessEnding, Supervisor, type SupervisorRequest } from "./supervisor.ts";

export type ProgramRequest = Pick<
  SupervisorRequest,
  "command" | "cwd" | "env" | "input" | "keepOpen" | "timeoutMs" | "graceMs" | "signal" | "leftovers" | "plain"
> & {
  /** The maximum number of bytes that are kept of each stream. */
  keepBytes?: number;
};

export type ProgramEnd = Pick<ProcessEnding, "exitCode" | "signal" | "stages" | "durationMs" | "failure"> & {
  stdout: Buffer;
  stderr: string;
  /** Whether the program wrote more than was kept. */
  isCut: boolean;
  timedOut: boolean;
  cancelled: boolean;
};

/** Whether a quick program exits with 0. Holds this process up until then. */
export function programSucceeds([program, ...args]: readonly string[]): boolean {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  return spawnSync(program!, args, { stdio: "ignore", timeout: 10_000 }).status === 0;
}

/** Runs a program to its end. Never rejects: `failure` says why it could not be started. */
export async function runProgram({ keepBytes = 1024 * 1024, ...request }: ProgramRequest): Promise<ProgramEnd> {
  const outputs = { stdout: new BoundedBytes(keepBytes), stderr: new BoundedBytes(keepBytes) };
  const supervisor = new Supervisor({ ...request, onOutput: (stream, chunk) => outputs[stream].push(chunk) });
  const { stopped, leftovers, notes, ...end } = await supervisor.ended;
  return {
    ...end,
    stdout: outputs.stdout.isCut ? Buffer.from(outputs.stdout.text()) : outputs.stdout.bytes(),
    stderr: outputs.stderr.text(),
    isCut: outputs.stdout.isCut || outputs.stderr.isCut,
    timedOut: stopped === "timedOut",
    cancelled: stopped === "cancelled",
  };
}
