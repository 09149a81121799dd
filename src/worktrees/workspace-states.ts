// Records states of a workspace: its files at the start and during a run, the changes between them, and how to restore a state
// elsewhere. States are stored in a repository outside the workspace, so that nothing in the workspace can influence git here;
// files are stored byte for byte. Ignored files are not part of a state.
import { lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import { list } from "../text/words.ts";
import { type GitCall, git, tryGit } from "./git.ts";

export type WorkspaceStates = {
  /** The repository in which the states are stored. */
  folder: string;
  workspace: string;
  /** The commit with the state that later ones are compared with. */
  start: string;
  /** The commit from which the workspace was checked out. */
  base?: string;
  call: GitCall;
};

type Beginning = {
  folder: string;
  workspace: string;
  /** For a checkout: its commit, and the folder of its objects. */
  checkedOut?: { commit: string; objects: string };
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
};

const stateRef = "refs/courser/state";
const headRef = "refs/courser/head";

/** A fixed identity and date, so that the same files get the same ids everywhere. */
const identity = {
  GIT_AUTHOR_NAME: "courser",
  GIT_AUTHOR_EMAIL: "courser@localhost",
  GIT_AUTHOR_DATE: "2000-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "courser",
  GIT_COMMITTER_EMAIL: "courser@localhost",
  GIT_COMMITTER_DATE: "2000-01-01T00:00:00Z",
};

export async function beginStates({ folder, workspace, checkedOut, env, signal }: Beginning): Promise<WorkspaceStates> {
  await git(["init", "--quiet", "--bare", "--", folder], { cwd: workspace, env, ...(signal && { signal }) });
  mkdirSync(join(folder, "info"), { recursive: true });
  // Override the workspace's own attributes, so that git converts nothing.
  writeFileSync(join(folder, "info", "attributes"), "* -text -eol -ident -filter -working-tree-encoding\n");
  if (checkedOut) writeFileSync(join(folder, "objects", "info", "alternates"), `${checkedOut.objects}\n`);
  const variables = {
    GIT_DIR: folder,
    GIT_WORK_TREE: workspace,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    ...identity,
  };
  const call: GitCall = { cwd: workspace, env, variables, ...(signal && { signal }) };
  for (const [name, value] of Object.entries({ "core.bare": "false", "core.excludesFile": "/dev/null" }))
    await git(["config", name, value], call);
  const tree = await recordState({ call });
  const base = checkedOut?.commit;
  const isPlain = base !== undefined && (await git(["rev-parse", `${base}^{tree}`], call)).trim() === tree;
  const start = isPlain ? base : await commit(tree, base, "start", call);
  return { folder, workspace, start, call, ...(base !== undefined && { base }) };
}

/** Records the current files. Returns the id of their tree. */
export async function recordState({ call }: Pick<WorkspaceStates, "call">): Promise<string> {
  // Add the other files even if one is missing or unreadable.
  const added = await tryGit(["add", "--all", "--ignore-errors", "--", "."], call);
  if (added.problem !== undefined && added.exitCode !== 1) throw stateError("The workspace cannot be recorded", added);
  const written = await tryGit(["write-tree"], call);
  if (written.problem !== undefined) throw stateError("The workspace cannot be recorded", written);
  return written.stdout.trim();
}

/** Returns the HEAD commit of the workspace's own repository, or an empty string if there is none. */
export async function headCommit({ workspace, call }: Pick<WorkspaceStates, "workspace" | "call">): Promise<string> {
  const callOptions = { cwd: workspace, env: call.env, variables: { GIT_DIR: join(workspace, ".git") } };
  return (await tryGit(["rev-parse", "--verify", "--quiet", "HEAD"], callOptions)).stdout.trim();
}

/** Returns the state of the workspace's own repository apart from its files: its commit, branches, tags and an unfinished merge. */
export async function repositoryMark(states: Pick<WorkspaceStates, "workspace" | "call">): Promise<string> {
  const folder = join(states.workspace, ".git");
  const callOptions = { cwd: states.workspace, env: states.call.env, variables: { GIT_DIR: folder } };
  const refs = await tryGit(["for-each-ref", "--format=%(objectname) %(refname)"], callOptions);
  const isMerging = lstatSync(join(folder, "MERGE_HEAD"), { throwIfNoEntry: false }) !== undefined;
  return `${await headCommit(states)} ${isMerging ? "merging" : ""}\n${refs.stdout}`;
}

/** Writes a bundle with everything, beyond the workspace's source, that another machine needs to restore this state. */
export async function bundleState(states: WorkspaceStates, tree: string, file: string): Promise<void> {
  const { call, start, base } = states;
  await git(["update-ref", stateRef, await commit(tree, start, "state", call)], call);
  const refs = [stateRef, ...((await fetchMovedHead(states)) === undefined ? [] : [headRef])];
  await git(["bundle", "create", "--quiet", "--", file, ...refs, `^${base ?? start}`], call);
}

/** Returns the commit that a bundle is based on. */
export async function baseOfBundle(file: string): Promise<string | undefined> {
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    return /^-([0-9a-f]{40,64})\b/m.exec(buffer.toString("latin1", 0, bytesRead))?.[1];
  } finally {
    await handle.close();
  }
}

/** Restores the state in a bundle; the workspace must be in its start state. Returns the tree. */
export async function restoreState(states: WorkspaceStates, file: string): Promise<string> {
  const { call, workspace, folder } = states;
  const fetched = await tryGit(
    ["fetch", "--quiet", "--no-write-fetch-head", "--", file, "+refs/courser/*:refs/courser/*"],
    call,
  );
  if (fetched.problem !== undefined)
    throw stateError(
      "The workspace cannot be brought to its last state, because its source is not what it was",
      fetched,
    );
  await git(["read-tree", "-u", "--reset", stateRef], call);
  const head = await tryGit(["rev-parse", "--verify", "--quiet", headRef], call);
  if (head.problem === undefined) {
    const inside = { cwd: workspace, env: call.env };
    await git(
      ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", folder, `${headRef}:${headRef}`],
      inside,
    );
    await git(["reset", "--quiet", "--mixed", headRef], inside);
  }
  return (await git(["rev-parse", `${stateRef}^{tree}`], call)).trim();
}

/** Writes the changes since the start as a patch for `git apply`. Returns false if there are none. */
export async function writePatch({ call, start }: WorkspaceStates, tree: string, file: string): Promise<boolean> {
  const form = list("-r --patch --binary --full-index --find-renames --no-color --no-ext-diff --no-textconv");
  await git(["diff-tree", ...form, `--output=${file}`, start, tree], call);
  return statSync(file).size > 0;
}

/** Creates a branch in the repository `home` with the commits made in the workspace, and one more for uncommitted changes. */
export async function pushBranch(
  states: WorkspaceStates,
  { tree, home, branch, message }: { tree: string; home: string; branch: string; message: string },
): Promise<void> {
  const { call, base, start, folder } = states;
  if (base !== start)
    throw new UserError(
      "GIT_FAILED",
      "The repository converts its files on checkout; there is a patch, and no branch.",
    );
  const head = (await fetchMovedHead(states)) ?? start;
  const committed = (await git(["rev-parse", `${head}^{tree}`], call)).trim();
  const now = new Date().toISOString();
  const dated = { ...call, variables: { ...call.variables, GIT_AUTHOR_DATE: now, GIT_COMMITTER_DATE: now } };
  const last = tree === committed ? head : await commit(tree, head, message, dated);
  await git(["update-ref", stateRef, last], call);
  const outside: GitCall = { cwd: home, env: call.env };
  const pair = `${stateRef}:refs/heads/${branch}`;
  await git(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", folder, pair], outside);
}

async function commit(tree: string, parent: string | undefined, message: string, call: GitCall): Promise<string> {
  const parents = parent === undefined ? [] : ["-p", parent];
  return (await git(["commit-tree", tree, ...parents, "-m", message], call)).trim();
}

/** Fetches HEAD of the workspace's own repository, without changing it. Returns undefined if there is no new commit or repository. */
async function fetchMovedHead({ workspace, base, call }: WorkspaceStates): Promise<string | undefined> {
  if (base === undefined) return undefined;
  const gitFolder = join(workspace, ".git");
  // Refuse a .git file, which could refer to any repository on this disk.
  if (!lstatSync(gitFolder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const fetched = await tryGit(
    ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", gitFolder, `+HEAD:${headRef}`],
    call,
  );
  if (fetched.problem !== undefined) return undefined;
  const head = (await git(["rev-parse", "--verify", headRef], call)).trim();
  return head === base ? undefined : head;
}

function stateError(what: string, { problem }: { problem?: string }): UserError {
  return new UserError("GIT_FAILED", `${what}: ${problem}`);
}
