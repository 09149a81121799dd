// Asks a CLI a plain question on its command line, such as --version, with a time limit and without sending a prompt.
import { runProgram } from "../process/run-program.ts";

export type CliAnswer = {
  output: string;
  /** Whether the CLI exited by itself with exit code 0. */
  isWhole: boolean;
  /** Whether the CLI was stopped before it answered, so that its answer is unknown. */
  isCut: boolean;
  stderr: string;
};

export type CliQuestion = {
  words: readonly string[];
  args: readonly string[];
  env?: NodeJS.ProcessEnv | undefined;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
};

export async function askCli({ words, args, env, timeoutMs = 20_000, signal }: CliQuestion): Promise<CliAnswer> {
  const end = await runProgram({
    command: [...words, ...args],
    cwd: process.cwd(),
    env: { ...process.env, ...env, COURSER_EXIT_WITH_PARENT: "1" },
    timeoutMs,
    graceMs: 500,
    signal,
  });
  return {
    output: end.stdout.toString("utf8"),
    isWhole: end.exitCode === 0,
    isCut: end.timedOut || end.cancelled,
    stderr: end.stderr,
  };
}
