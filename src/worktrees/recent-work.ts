// Summarises the current work in a repository, within a time limit: the number of changed files and the last commits.
import { type GitCall, splitEntries, tryGit } from "./git.ts";

export type RecentWork = {
  /** The number of files that differ from the last commit or are untracked. */
  changedFiles: number;
  /** The subjects of the latest commits, newest first. */
  commits: readonly string[];
};

const maxCommits = 3;

/** Counts uncommitted changes and lists recent commits, without programs that the repository configures; undefined on failure. */
export async function recentWork(
  { cwd, env }: Pick<GitCall, "cwd" | "env">,
  limitMs: number,
): Promise<RecentWork | undefined> {
  const call = { cwd, env, signal: AbortSignal.timeout(limitMs) };
  try {
    const [changed, log] = await Promise.all([
      changedFiles(call),
      tryGit(["-c", "log.showSignature=false", "log", `-${maxCommits}`, "--no-decorate", "-z", "--format=%s"], call),
    ]);
    // In a repository without commits there is no log.
    return changed === undefined ? undefined : { changedFiles: changed, commits: splitEntries(log.stdout) };
  } catch {
    return undefined;
  }
}

async function changedFiles(call: GitCall): Promise<number | undefined> {
  const { stdout, problem } = await tryGit(
    [...(await withoutFilters(call)), "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"],
    call,
  );
  return problem === undefined ? splitEntries(stdout).length : undefined;
}

/** Returns the settings that disable filters, which git would run to compare files. */
async function withoutFilters(call: GitCall): Promise<string[]> {
  const { stdout } = await tryGit(["config", "-z", "--name-only", "--get-regexp", "^filter\\."], call);
  const names = new Set(splitEntries(stdout).map((key) => key.slice(0, key.lastIndexOf("."))));
  return [...names].flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `${name}.${setting}`]),
  );
}
