// `worktrees remove`: deletes worktrees. Lists unmerged work first.
import { existsSync } from "node:fs";
import { counted } from "../../../view/numbers.ts";
import type { GitCall } from "../../../worktrees/git.ts";
import { forget, type Worktree } from "../../../worktrees/records.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { askToConfirm } from "../confirm.ts";
import { findWorktree, workIn, worktreesOf } from "./context.ts";

export async function removeCommand(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  const context = await worktreesOf(invocation);
  // Look up all names before removing anything, so that a wrong one removes nothing.
  const worktrees = [...new Set(words)].map((word) => findWorktree(word, context, invocation.name));
  const lost: string[] = [];
  for (const worktree of worktrees) lost.push(...(await describeUnmergedWork(worktree, context.call)));
  if (lost.length > 0 && !flags.has("force")) {
    writeStderr(`${lost.join("\n")}\n`);
    const names = worktrees.map(({ name }) => name).join(" ");
    if (!(await askToConfirm(invocation, "Delete it for good?", `worktrees remove ${names} --yes`)))
      return answer("Nothing was removed.\n");
  }
  for (const worktree of worktrees) forget(worktree);
  return answer(worktrees.map(({ name, path }) => `✓ Removed ${name} (${path})\n`).join(""));
}

async function describeUnmergedWork(worktree: Worktree, call: GitCall): Promise<string[]> {
  const { name, path, merged } = worktree;
  if (!existsSync(path)) return [];
  try {
    const { tree, files, commits } = await workIn(worktree, call);
    if (tree === merged?.tree || files + commits === 0) return [];
    return [`${name}: ${counted(files, "changed file")} and ${counted(commits, "commit")} were not merged.`];
  } catch {
    return [`${name}: what was done in it cannot be read.`];
  }
}
