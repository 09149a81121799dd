// Compares a worktree's current files, committed or not, with the commit that it was created from.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import { type GitCall, git, splitEntries } from "./git.ts";
import type { Worktree } from "./records.ts";

export type FileChange = {
  path: string;
  status: "added" | "changed" | "deleted";
  /** File modes as in git: `100755` is executable, `120000` a link. */
  oldMode: string;
  newMode: string;
};

/** Writes the worktree's files as a tree, without ignored ones. Its own index is neither changed nor trusted. */
export async function treeOf(worktree: Worktree, call: GitCall): Promise<string> {
  const inside = { ...call, cwd: worktree.path };
  return withIndex(async (variables) => {
    await git(["read-tree", "HEAD"], { ...inside, variables });
    await git(["add", "--all", "--", "."], { ...inside, variables });
    return (await git(["write-tree"], { ...inside, variables })).trim();
  });
}

/** Runs `work` with a temporary git index. */
export async function withIndex<Result>(work: (variables: Record<string, string>) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "courser-index-"));
  try {
    return await work({ GIT_INDEX_FILE: join(folder, "index") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the changes between two trees or commits, sorted by path. */
export async function changesBetween(from: string, to: string, call: GitCall): Promise<FileChange[]> {
  const raw = splitEntries(await git(["diff-tree", "-r", "-z", "--no-renames", "--raw", from, to], call));
  const changes: FileChange[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [oldMode = "", newMode = "", , , letter = ""] = raw[at]!.slice(1).split(" ");
    const status = letter === "A" ? "added" : letter === "D" ? "deleted" : "changed";
    changes.push({ path: raw[at + 1]!, status, oldMode, newMode });
  }
  return changes;
}

/** Returns a diff for people to read; `stat` has one line per file. */
export async function diffText(
  { from, to, form }: { from: string; to: string; form: "patch" | "stat" },
  call: GitCall,
): Promise<string> {
  const shape = form === "stat" ? ["--stat=100"] : ["--patch", "--find-renames"];
  return git(["diff-tree", "-r", "--no-color", "--no-ext-diff", "--no-textconv", ...shape, from, to], call);
}

/** Throws if there is a nested repository, which would be merged as an empty folder. */
export function refuseNested(changes: readonly FileChange[], { path }: Worktree): void {
  const nested = changes.find(({ oldMode, newMode }) => newMode === "160000" && oldMode !== "160000");
  if (!nested) return;
  throw new UserError(
    "GIT_FAILED",
    `${nested.path} in ${path} is a separate git repository, whose files cannot be merged. Remove its .git directory, or move it away.`,
  );
}
