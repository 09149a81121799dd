// Manages the workspace of a run on a worker: creates it from its source in its own folder, compares it
// with its start at the end, and removes it.
import { constants, createReadStream, createWriteStream, lstatSync, rmSync, statSync } from "node:fs";
import { cp } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { UserError } from "../../protocol/error-codes.ts";
import { collapsed } from "../../text/one-line.ts";
import { cut } from "../../text/width.ts";
import { type CacheLimits, trimNowAndThen } from "../../worktrees/kept-repositories.ts";
import { type CheckedOut, checkOutRepository } from "../../worktrees/repository-cache.ts";
import {
  baseOfBundle,
  beginStates,
  pushBranch,
  recordState,
  repositoryMark,
  restoreState,
  type WorkspaceStates,
  writePatch,
} from "../../worktrees/workspace-states.ts";
import type { Fleet, RunEnd, RunRecord, WorkspaceSource } from "../fleet.ts";
import { unpackArchive } from "./archive.ts";
import { cacheIn, claimFolder } from "./run-folders.ts";

export type WorkerDisk = {
  /** The directory for workspaces and cached repositories. */
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** Keeps the folders of failed runs for inspection. */
  keepFailed?: boolean;
  cacheLimits: CacheLimits;
};

export type RunWorkspace = {
  /** The directory that the agent works in. */
  path: string;
  /** The folder for the worker's own files. */
  folder: string;
  states: WorkspaceStates;
  /** The state of the workspace's own repository at the start. */
  repositoryMark: string;
  /** The repository that the workspace came from, if branches can be pushed to it. */
  home?: string;
  keepFailed: boolean;
};

const objectPrefix = "object:";

/** Creates the workspace of a run from its source, or from `snapshot`, the state to resume from. */
export async function makeWorkspace(
  fleet: Fleet,
  run: RunRecord,
  source: WorkspaceSource,
  { disk, snapshot, signal }: { disk: WorkerDisk; snapshot?: AsyncIterable<Uint8Array>; signal: AbortSignal },
): Promise<RunWorkspace> {
  const folder = claimFolder(disk.dataDir, run);
  try {
    const bundle = snapshot && (await download(snapshot, join(folder, "snapshot.bundle")));
    const path = join(folder, "work");
    const commit = bundle === undefined ? undefined : await baseOfBundle(bundle);
    const cache = cacheIn(disk.dataDir);
    const checkedOut = await fillWorkspace(fleet, run, source, { path, folder, cache, commit, env: disk.env, signal });
    if (checkedOut) void trimNowAndThen(cache, disk.cacheLimits);
    const states = await beginStates({
      folder: join(folder, "states.git"),
      workspace: path,
      env: disk.env,
      signal,
      ...(checkedOut && { checkedOut }),
    });
    if (bundle !== undefined) await restoreState(states, bundle);
    const home = checkedOut?.home === undefined ? {} : { home: checkedOut.home };
    const mark = await repositoryMark(states);
    return { path, folder, states, repositoryMark: mark, ...home, keepFailed: disk.keepFailed === true };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    signal.throwIfAborted();
    throw explainStoreError(error, disk.dataDir);
  }
}

type Filling = {
  path: string;
  folder: string;
  cache: string;
  commit: string | undefined;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
};

async function fillWorkspace(
  fleet: Fleet,
  run: RunRecord,
  source: WorkspaceSource,
  { path, folder, cache, commit, env, signal }: Filling,
): Promise<CheckedOut | undefined> {
  switch (source.type) {
    case "git": {
      const isObject = source.from.startsWith(objectPrefix);
      const from = isObject
        ? await download(
            await objectOf(fleet, run.id, source.from.slice(objectPrefix.length)),
            join(folder, "source.bundle"),
          )
        : source.from;
      const place = { path, branch: branchOf(run), cache: isObject ? folder : cache, ...(commit && { commit }) };
      return checkOutRepository({ ...source, from }, place, { env, signal });
    }
    case "folder":
      await copyFolder(source.path, path);
      return undefined;
    case "archive":
      await unpackArchive(await objectOf(fleet, source.run ?? run.id, source.object), path);
      return undefined;
  }
}

export function branchOf({ id }: Pick<RunRecord, "id">): string {
  return `courser/${id}`;
}

/** Copies files as clones if the file system supports that. Links are copied as links. */
async function copyFolder(from: string, to: string): Promise<void> {
  if (!isAbsolute(from) || !statSync(from, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError("CWD_MISSING", `The folder ${from} does not exist on this worker.`);
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter(path) {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      // The .git file of a linked worktree refers to another repository, which must not be written to.
      if (stat?.isFile() && relative(from, path).split(sep).at(-1) === ".git") return false;
      return stat !== undefined && (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink());
    },
  });
}

async function objectOf(fleet: Fleet, run: string, name: string): Promise<AsyncIterable<Uint8Array>> {
  const bytes = await fleet.get(run, name);
  if (bytes) return bytes;
  throw new UserError(
    "USAGE",
    `The object ${name} of the run ${run} does not exist. Put it before the run is enqueued.`,
  );
}

async function download(bytes: AsyncIterable<Uint8Array>, file: string): Promise<string> {
  await pipeline(bytes, createWriteStream(file, { mode: 0o600 }));
  return file;
}

/** Returns a notice if the run changed the workspace's own repository in ways that neither the patch nor a branch carries. */
export async function repositoryChangesNotice(
  workspace: RunWorkspace,
  { branch }: Pick<RunEnd, "branch">,
): Promise<string | undefined> {
  if (branch !== undefined || (await repositoryMark(workspace.states)) === workspace.repositoryMark) return undefined;
  return "The run changed the repository in its workspace: commits, branches or a merge. What comes back is a patch of the files alone.";
}

/** Stores the run's changes as a patch in the fleet, and as a branch if the repository is on this disk. */
export async function storeChanges(
  fleet: Fleet,
  run: RunRecord,
  { states, folder, home }: RunWorkspace,
): Promise<Pick<RunEnd, "patch" | "branch">> {
  const tree = await recordState(states);
  const file = join(folder, "patch");
  if (!(await writePatch(states, tree, file))) return {};
  await fleet.put(run.id, "patch", createReadStream(file));
  if (home === undefined) return { patch: "patch" };
  const branch = branchOf(run);
  const message = cut(collapsed(run.spec.prompt.text), 72) || run.id;
  const isPushed = await pushBranch(states, { tree, home, branch, message }).then(
    () => true,
    () => false, // the repository is not writable; the patch holds all changes
  );
  return { patch: "patch", ...(isPushed && { branch }) };
}

function explainStoreError(error: unknown, dataDir: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof UserError && !/No space left/i.test(message)) return error;
  if (code === "ENOSPC" || /No space left/i.test(message))
    return new UserError(
      "STORE_FULL",
      `The disk of ${dataDir} is full. Free some space, or choose another directory with --data-dir.`,
    );
  return code === undefined
    ? error
    : new UserError("STORE_FAILED", `The workspace cannot be created in ${dataDir}: ${message}`);
}
