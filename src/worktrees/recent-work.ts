// What a repository is in the middle of: how many files are changed, and the last commits. Looked at within a short time, or not.
import { entries, type GitCall, tryGit } from "./git.ts";

export type RecentWork = {
  /** Files that differ from the last commit, or that git does not know. */
  changedFiles: number;
  /** Subjects, newest first. */
  commits: readonly string[];
};

const mostCommits = 3;

/** Undefined where that takes longer than `limitMs`, or git cannot tell. Nothing that the repository names is run. */
export async function recentWork(
  { cwd, env }: Pick<GitCall, "cwd" | "env">,
  limitMs: number,
): Promise<RecentWork | undefined> {
  const call = { cwd, env, signal: AbortSignal.timeout(limitMs) };
  try {
    const [changed, log] = await Promise.all([
      changedFiles(call),
      tryGit(["-c", "log.showSignature=false", "log", `-${mostCommits}`, "--no-decorate", "-z", "--format=%s"], call),
    ]);
    // A repository without a commit has no log.
    return changed === undefined ? undefined : { changedFiles: changed, commits: entries(log.stdout) };
  } catch {
    return undefined;
  }
}

async function changedFiles(call: GitCall): Promise<number | undefined> {
  const { stdout, problem } = await tryGit(
    [...(await withoutFilters(call)), "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"],
    call,
  );
  return problem === undefined ? entries(stdout).length : undefined;
}

/** To compare a file git would pass it through the programs that its attributes name. Without a command a filter changes nothing. */
async function withoutFilters(call: GitCall): Promise<string[]> {
  const { stdout } = await tryGit(["config", "-z", "--name-only", "--get-regexp", "^filter\\."], call);
  const names = new Set(entries(stdout).map((key) => key.slice(0, key.lastIndexOf("."))));
  return [...names].flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `${name}.${setting}`]),
  );
}
