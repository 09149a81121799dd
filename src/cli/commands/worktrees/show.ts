// `worktrees show`: prints the changes in a worktree as a diff.
import { diffText, treeOf } from "../../../worktrees/changes.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { findWorktree, worktreesOf } from "./context.ts";

export async function showCommand(invocation: Invocation, [name]: readonly string[]): Promise<number> {
  const context = await worktreesOf(invocation);
  const worktree = findWorktree(name!, context, invocation.name);
  const tree = await treeOf(worktree, context.call);
  const form = invocation.line.flags.has("stat") ? "stat" : "patch";
  const inside = { ...context.call, cwd: worktree.path };
  return answer(await diffText({ from: worktree.base, to: tree, form }, inside));
}
