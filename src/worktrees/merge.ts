// Merges the work in a worktree into the files of its source checkout, as changes to review and commit, or into a branch.
// Uncommitted work in the source is never touched: if it is in the way, nothing is written.

import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { withFileLock } from "../store/file-lock.ts";
import { firstLines } from "../text/first-of.ts";
import { programName } from "../text/program-name.ts";
import { changesBetween, type FileChange, refuseNested, treeOf, withIndex } from "./changes.ts";
import { type GitCall, git, splitEntries, tryGit } from "./git.ts";
import { saveRecord, type Worktree } from "./records.ts";

/** `from` and `to` are the source's files before and after, as commit and tree. `write` applies all changes or none. */
export type Merge = { changes: FileChange[]; from: string; to: string; write(): Promise<void> };

/** Computes how to merge a worktree. Throws a UserError that lists the files in conflict with it. */
export async function planMerge(worktree: Worktree, call: GitCall): Promise<Merge> {
  const inside = { ...call, cwd: worktree.path };
  const outside = { ...call, cwd: worktree.source };
  const tree = await treeOf(worktree, call);
  const head = (await git(["rev-parse", "--verify", "HEAD^{commit}"], outside)).trim();
  const to = await mergedTree(worktree, { tree, head }, inside);
  const changes = await changesBetween(head, to, inside);
  refuseNested(changes, worktree);
  const found = await uncommittedPaths(outside);
  refuse(
    worktree,
    changes.filter((change) => found.has(change.path) || hasMoved(worktree.source, change)),
  );
  return {
    changes,
    from: head,
    to,
    async write() {
      const files = await extract(to, changes, inside);
      try {
        withFileLock(`${worktree.path}.lock`, () => {
          refuse(
            worktree,
            changes.filter((change) => hasMoved(worktree.source, change)),
          );
          applyOrRestore(worktree.source, changes, files);
        });
        saveRecord({ ...worktree, merged: { tree, at: new Date().toISOString() } });
      } finally {
        rmSync(files, { recursive: true, force: true });
      }
    },
  };
}

/** Creates a branch in the source with the worktree's commits, and one more for uncommitted changes. */
export async function mergeAsBranch(worktree: Worktree, branch: string, call: GitCall): Promise<void> {
  const inside = { ...call, cwd: worktree.path };
  const outside = { ...call, cwd: worktree.source };
  const tree = await treeOf(worktree, call);
  refuseNested(await changesBetween(worktree.base, tree, inside), worktree);
  const head = (await git(["rev-parse", "--verify", "HEAD^{commit}"], inside)).trim();
  const committed = (await git(["rev-parse", `${head}^{tree}`], inside)).trim();
  const last =
    tree === committed
      ? head
      : (await git(["commit-tree", tree, "-p", head, "-m", `Work in progress of ${worktree.name}`], inside)).trim();
  const name = `refs/heads/${branch}`;
  if ((await tryGit(["check-ref-format", name], outside)).problem !== undefined)
    throw usageError(`'${branch}' is not a name for a branch.`);
  if ((await tryGit(["rev-parse", "--verify", "--quiet", name], outside)).problem === undefined)
    throw usageError(`The branch ${branch} already exists in ${worktree.source}. Choose another name.`);
  const passing = `refs/courser/${branch}`;
  await git(["update-ref", passing, last], inside);
  try {
    await git(
      ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", worktree.path, `${passing}:${name}`],
      outside,
    );
  } finally {
    await tryGit(["update-ref", "-d", passing], inside);
  }
  saveRecord({ ...worktree, merged: { tree, at: new Date().toISOString() } });
}

/** Returns the tree with the changes of both sides. */
async function mergedTree(
  worktree: Worktree,
  { tree, head }: { tree: string; head: string },
  inside: GitCall,
): Promise<string> {
  if (head === worktree.base) return tree;
  const commit = (await git(["commit-tree", tree, "-p", worktree.base, "-m", worktree.name], inside)).trim();
  const merged = await tryGit(
    ["merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", head, commit],
    inside,
  );
  const [result = "", ...conflicts] = splitEntries(merged.stdout);
  if (merged.problem === undefined) return result;
  if (merged.exitCode === 1) throw conflictError(worktree, [...new Set(conflicts)]);
  throw new UserError("GIT_FAILED", `The changes cannot be merged: ${merged.problem} Git 2.38 or newer is needed.`);
}

/** Returns the paths in the source that differ from its last commit, staged or not. */
async function uncommittedPaths(outside: GitCall): Promise<ReadonlySet<string>> {
  const status = splitEntries(
    await git(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"], outside),
  );
  return new Set(status.map((entry) => entry.slice(3)));
}

/** Tells whether the path of a new file is taken, a changed file is gone, or a link or file is in place of a folder. */
function hasMoved(source: string, { path, status }: FileChange): boolean {
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const stat = lstatSync(join(source, folder), { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) return true;
  }
  const stat = lstatSync(join(source, path), { throwIfNoEntry: false });
  return status === "added" ? stat !== undefined : stat === undefined || stat.isDirectory();
}

/** Writes the merged files to a temporary folder, with the repository's line endings and filters applied. */
async function extract(tree: string, changes: readonly FileChange[], inside: GitCall): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "courser-merge-"));
  try {
    const written = changes.filter(({ status }) => status !== "deleted").map(({ path }) => path);
    await withIndex(async (variables) => {
      await git(["read-tree", tree], { ...inside, variables });
      const input = written.map((path) => `${path}\0`).join("");
      await git(["checkout-index", "-z", "--stdin", `--prefix=${folder}/`], { ...inside, variables, input });
    });
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Applies all changes. If one fails, restores all files as they were. */
function applyOrRestore(source: string, changes: readonly FileChange[], files: string): void {
  const before = mkdtempSync(join(tmpdir(), "courser-before-"));
  const done: FileChange[] = [];
  try {
    for (const change of changes) {
      const { path, status } = change;
      const target = join(source, path);
      if (status !== "added") copyPlain(target, join(before, path));
      done.push(change);
      if (status === "deleted") removeFile(source, path);
      else putFile(join(files, path), target);
    }
  } catch (error) {
    for (const { path, status } of done.reverse()) {
      if (status === "added") removeFile(source, path);
      else if (lstatSync(join(before, path), { throwIfNoEntry: false }))
        putFile(join(before, path), join(source, path));
    }
    throw new UserError("GIT_FAILED", `Nothing was merged: ${(error as Error).message}`);
  } finally {
    rmSync(before, { recursive: true, force: true });
  }
}

/** Replaces a file atomically. */
function putFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  const beside = `${to}.${process.pid}.courser-tmp`;
  try {
    copyPlain(from, beside);
    renameSync(beside, to);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Copies a file with its mode, or a link as a link. */
function copyPlain(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) {
    symlinkSync(readlinkSync(from), to);
    return;
  }
  copyFileSync(from, to);
  chmodSync(to, stat.mode & 0o777);
}

function removeFile(source: string, path: string): void {
  rmSync(join(source, path), { force: true });
  for (let folder = dirname(join(source, path)); relative(source, folder) !== ""; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return; // the folder is not empty
    }
  }
}

function refuse({ source, name }: Worktree, inTheWay: readonly FileChange[]): void {
  if (inTheWay.length === 0) return;
  throw new UserError(
    "MERGE_REFUSED",
    `Nothing was merged: uncommitted work in ${source} is in the way.\n${listPaths(inTheWay.map(({ path }) => path))}\nCommit or move it, then: ${programName()} worktrees merge ${name}\nOr take the work over as a branch: ${programName()} worktrees merge ${name} --branch <name>`,
  );
}

function conflictError({ source, name }: Worktree, paths: readonly string[]): UserError {
  return new UserError(
    "MERGE_REFUSED",
    `Nothing was merged: ${source} has changed in the same places since.\n${listPaths(paths)}\nTake the work over as a branch and resolve it there: ${programName()} worktrees merge ${name} --branch <name>`,
  );
}

function listPaths(paths: readonly string[]): string {
  return firstLines(paths, 20).join("\n");
}
