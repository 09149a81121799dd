// `worktrees remove`: deletes worktrees. Lists unmerged work first.
import { existsSync } from "node:fs";
import { changesBetween, treeOf } from "../../../worktrees/changes.ts";
import { type GitCall, tryGit } from "../../../worktrees/git.ts";
import { forget, type Worktree } from "../../../worktrees/records.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { confirmed } from "../confirm.ts";
import { named, worktreesOf } from "./context.ts";

export async function removeCommand(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  const context = await worktreesOf(invocation);
  // Look up all names first, so that a wrong one removes nothing.
  const worktrees = [...new Set(words)].map((word) => named(word, context, invocation.name));
  const lost: string[] = [];
  for (const worktree of worktrees) lost.push(...(await unmerged(worktree, context.call)));
  if (lost.length > 0 && !flags.has("force")) {
    writeStderr(`${lost.join("\n")}\n`);
    const names = worktrees.map(({ name }) => name).join(" ");
    if (!(await confirmed(invocation, "Delete it for good?", `worktrees remove ${names} --yes`)))
      return answer("Nothing was removed.\n");
  }
  for (const worktree of worktrees) forget(worktree);
  return answer(worktrees.map(({ name, path }) => `✓ Removed ${name} (${path})\n`).join(""));
}

/** Describes the work that would be lost. */
async function unmerged(worktree: Worktree, call: GitCall): Promise<string[]> {
  const { name, path, base, merged } = worktree;
  if (!existsSync(path)) return [];
  try {
    const tree = await treeOf(worktree, call);
    if (tree === merged?.tree) return [];
    const inside = { ...call, cwd: path };
    const files = (await changesBetween(base, tree, inside)).length;
    const commits = Number((await tryGit(["rev-list", "--count", `${base}..HEAD`], inside)).stdout || 0);
    if (files + commits === 0) return [];
    return [
      `${name}: ${files} changed ${files === 1 ? "file" : "files"} and ${commits} ${commits === 1 ? "commit" : "commits"} were not merged.`,
    ];
  } catch {
    return [`${name}: what was done in it cannot be read.`];
  }
}
