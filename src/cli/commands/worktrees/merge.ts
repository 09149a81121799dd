// `worktrees merge`: shows the changes, asks, and merges all of them or none.
import { counted } from "../../../view/numbers.ts";
import { diffText } from "../../../worktrees/changes.ts";
import { mergeAsBranch, planMerge } from "../../../worktrees/merge.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { askToConfirm } from "../confirm.ts";
import { findWorktree, worktreesOf } from "./context.ts";

export async function mergeCommand(invocation: Invocation, [name]: readonly string[]): Promise<number> {
  const context = await worktreesOf(invocation);
  const worktree = findWorktree(name!, context, invocation.name);
  const { source } = worktree;
  const branch = flagText(invocation.line.flags, "branch");
  if (branch !== undefined) {
    await mergeAsBranch(worktree, branch, context.call);
    return answer(`✓ ${source} has the branch ${branch} now. To look at it: git log -p ${branch}\n`);
  }
  const merge = await planMerge(worktree, context.call);
  if (merge.changes.length === 0) return answer(`${source} has everything that ${name} has.\n`);
  writeStderr(await diffText({ ...merge, form: "stat" }, { ...context.call, cwd: worktree.path }));
  const count = counted(merge.changes.length, "file");
  const question = `Write these changes of ${count} into ${source}?`;
  const isSure = await askToConfirm(invocation, question, `worktrees merge ${name} --yes`);
  if (!isSure) return answer("Nothing was merged.\n");
  await merge.write();
  return answer(`✓ Merged ${count} into ${source}, as uncommitted changes.\n`);
}
