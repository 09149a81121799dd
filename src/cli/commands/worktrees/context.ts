// Selects the worktrees that a command refers to: those of the current repository, of a worktree's own repository, or all.
import { usageError } from "../../../protocol/error-codes.ts";
import { realDirectory } from "../../../run/real-directory.ts";
import { configDir } from "../../../store/config-dir.ts";
import { nearestName } from "../../../text/nearest.ts";
import { changesBetween, treeOf } from "../../../worktrees/changes.ts";
import { type GitCall, git, tryGit } from "../../../worktrees/git.ts";
import { listWorktrees, type Worktree, worktreeAt } from "../../../worktrees/records.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";

export type WorktreesContext = {
  worktrees: Worktree[];
  /** The checkout that they were made from. Absent outside a repository. */
  source?: string;
  call: GitCall;
};

export async function worktreesOf({ env, line }: Invocation): Promise<WorktreesContext> {
  const cwd = realDirectory(flagText(line.flags, "workspace") ?? ".", "--workspace");
  const call = { cwd, env };
  const config = configDir(env);
  const all = listWorktrees(config);
  if (line.flags.has("all")) return { worktrees: all, call };
  const source = worktreeAt(config, cwd)?.source ?? (await topOf(call));
  if (source === undefined) return { worktrees: all, call };
  return { worktrees: all.filter((each) => each.source === source), source, call };
}

export function findWorktree(name: string, { worktrees, source }: WorktreesContext, program: string): Worktree {
  const found = worktrees.filter((each) => each.name === name);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw usageError(
      `Several repositories have a worktree ${name}. Say which: ${program} worktrees show ${name} --workspace ${found[0]!.source}`,
    );
  }
  const near = nearestName(
    name,
    worktrees.map((each) => each.name),
  );
  const where = source === undefined ? "" : ` of ${source}`;
  throw usageError(
    `There is no worktree '${name}'${where}.${near ? ` Did you mean ${near}?` : ""} See: ${program} worktrees list --all`,
  );
}

/** Counts what was done in a worktree since its base. `tree` holds its files as they are. */
export async function workIn(worktree: Worktree, call: GitCall) {
  const inside = { ...call, cwd: worktree.path };
  const tree = await treeOf(worktree, call);
  const files = (await changesBetween(worktree.base, tree, inside)).length;
  const commits = Number(await git(["rev-list", "--count", `${worktree.base}..HEAD`], inside));
  return { tree, files, commits };
}

async function topOf(call: GitCall): Promise<string | undefined> {
  const top = await tryGit(["rev-parse", "--show-toplevel"], call);
  return top.problem === undefined ? top.stdout.trim() : undefined;
}
