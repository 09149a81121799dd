// `worktrees list`: prints the worktrees and the state of each.
import { existsSync } from "node:fs";
import { counted } from "../../../view/numbers.ts";
import type { GitCall } from "../../../worktrees/git.ts";
import type { Worktree } from "../../../worktrees/records.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { printableLine } from "../sessions/chat-lines.ts";
import { workIn, worktreesOf } from "./context.ts";

type State = "unchanged" | "changed" | "merged" | "missing" | "damaged";

type Listed = Worktree & { state: State; files: number; commits: number };

export async function listCommand(invocation: Invocation): Promise<number> {
  const { worktrees, call, source } = await worktreesOf(invocation);
  const listed: Listed[] = [];
  for (const worktree of worktrees) listed.push(await lookAt(worktree, call));
  if (wantsJson(invocation)) return answerJson(listed);
  if (listed.length === 0) {
    const where = source === undefined ? "" : ` of ${source}`;
    return answer(`There are no worktrees${where}. To work in one: ${invocation.name} -w <name> -- "…"\n`);
  }
  const width = Math.max(...listed.map(({ name }) => name.length));
  return answer(listed.map((each) => `${formatWorktree(each, width)}\n`).join(""));
}

function formatWorktree({ name, state, files, commits, path }: Listed, width: number): string {
  const counts = [...(files > 0 ? [counted(files, "file")] : []), ...(commits > 0 ? [counted(commits, "commit")] : [])];
  return `${name.padEnd(width)}  ${state.padEnd(9)}  ${counts.join(", ").padEnd(20)}  ${printableLine(path)}`;
}

async function lookAt(worktree: Worktree, call: GitCall): Promise<Listed> {
  const nothing = { ...worktree, files: 0, commits: 0 };
  if (!existsSync(worktree.path)) return { ...nothing, state: "missing" };
  try {
    const { tree, files, commits } = await workIn(worktree, call);
    const state = files + commits === 0 ? "unchanged" : worktree.merged?.tree === tree ? "merged" : "changed";
    return { ...worktree, state, files, commits };
  } catch {
    return { ...nothing, state: "damaged" };
  }
}
