// What a CLI answers to a plain question on its command line, such as --version: short, bounded, without a prompt.
import { runProgram } from "../process/run-program.ts";

export type CliAnswer = {
  output: string;
  /** It ended by itself, with exit code 0. */
  isWhole: boolean;
  /** It had to be stopped: what it would have said is not known. */
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
