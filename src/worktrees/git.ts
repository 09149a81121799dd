// Git as this program calls it: nothing that a repository names is run, and what is only looked at is not touched.
import { runProgram } from "../process/run-program.ts";
import { UserError } from "../protocol/error-codes.ts";

export type GitCall = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  input?: string;
  /** Variables of this call. */
  variables?: Record<string, string>;
  signal?: AbortSignal;
};

const mostOutput = 256 * 1024 * 1024;

/** Hooks, watchers and clean-ups of a repository do not run in our calls. */
const settings = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"].flatMap(
  (setting) => ["-c", setting],
);

/** What it printed. Throws UserError with its own words. */
export async function git(args: readonly string[], call: GitCall): Promise<string> {
  const { stdout, problem } = await tryGit(args, call);
  if (problem !== undefined) throw new UserError("GIT_FAILED", `git ${args[0]} failed in ${call.cwd}: ${problem}`);
  return stdout;
}

/** `problem`: why it failed; absent where it did not. */
export async function tryGit(
  args: readonly string[],
  { cwd, env, input, variables = {}, signal }: GitCall,
): Promise<{ stdout: string; problem?: string; exitCode: number | null }> {
  const end = await runProgram({
    command: ["git", ...settings, ...args],
    cwd,
    env: { ...plainEnvironment(env), ...variables },
    keepBytes: mostOutput,
    leftovers: "ignore",
    ...(input !== undefined && { input }),
    ...(signal && { signal }),
  });
  signal?.throwIfAborted();
  const stdout = end.stdout.toString("utf8");
  const { exitCode } = end;
  if (end.failure) return { stdout, exitCode, problem: "git could not be started. Install git, then try again." };
  if (end.isCut) return { stdout, exitCode, problem: "it printed more than 256 MiB." };
  if (exitCode === 0) return { stdout, exitCode };
  return { stdout, exitCode, problem: end.stderr.trim().split("\n").slice(-3).join(" ") || `exit code ${exitCode}` };
}

/** Without the variables that hooks of git set: they name another repository. Indexes that we look at are not refreshed on disk. */
function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^GIT_(?!CONFIG_GLOBAL$|CONFIG_SYSTEM$|AUTHOR_|COMMITTER_)/.test(name),
  );
  return { ...Object.fromEntries(kept), LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
}

/** Of output that ends every entry with NUL. */
export function entries(output: string): string[] {
  return output.split("\0").filter((each) => each !== "");
}
