// Creates a worktree: a separate repository that borrows the objects of its source. It has its own branches, stash, index and
// settings, so that nothing that happens in it affects the user's checkout.

import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type UserError, usageError } from "../protocol/error-codes.ts";
import { programName } from "../text/program-name.ts";
import { type GitCall, git, tryGit } from "./git.ts";
import { findWorktree, forget, takeName, type Worktree } from "./records.ts";
import { runSetup } from "./setup-commands.ts";

export type WorktreeRequest = {
  configDir: string;
  env: NodeJS.ProcessEnv;
  /** The directory in which the run would work without a worktree. */
  workspace: string;
  name: string;
  base?: string;
  /** Runs the commands of `.cursor/worktrees.json`; set only if the workspace is trusted. */
  setup: boolean;
  signal?: AbortSignal;
};

export type MadeWorktree = {
  worktree: Worktree;
  /** The counterpart of the requested `workspace` inside the worktree. */
  workspace: string;
  notices: string[];
};

/** Opens the worktree of that name, or creates it. */
export async function openWorktree(request: WorktreeRequest): Promise<MadeWorktree> {
  const { configDir, env, workspace, name, signal } = request;
  checkName(name);
  const call: GitCall = { cwd: workspace, env, ...(signal && { signal }) };
  const { source, prefix } = await findRepository(workspace, call);
  const existing = findWorktree(configDir, source, name);
  if (existing) return reopenWorktree(existing, prefix, request);
  const wanted = request.base ?? "HEAD";
  const commit = await tryGit(["rev-parse", "--verify", "--quiet", "--end-of-options", `${wanted}^{commit}`], call);
  if (commit.problem !== undefined) throw noBase(wanted, source);
  const base = commit.stdout.trim();
  const common = (await git(["rev-parse", "--path-format=absolute", "--git-common-dir"], call)).trim();
  const objects = join(common, "objects");
  const worktree = takeName(configDir, { name, source, objects, base, createdAt: new Date().toISOString() });
  try {
    await checkOut(worktree, call);
    const directory = join(worktree.path, prefix);
    // Git does not check out some folders, such as one with ignored files only.
    mkdirSync(directory, { recursive: true });
    if (request.setup) await runSetup(worktree, { env, ...(signal && { signal }) });
    return { worktree, workspace: directory, notices: await uncommittedNotice(worktree, call) };
  } catch (error) {
    forget(worktree);
    throw error;
  }
}

async function findRepository(workspace: string, call: GitCall): Promise<{ source: string; prefix: string }> {
  const found = await tryGit(["rev-parse", "--show-toplevel", "--show-prefix"], call);
  if (found.problem !== undefined) {
    throw usageError(
      `--worktree needs a git repository, and ${workspace} is not in one (${found.problem}). Make one with: git init && git add -A && git commit`,
    );
  }
  const [source = "", prefix = ""] = found.stdout.split("\n");
  return { source, prefix: prefix.replace(/\/$/, "") };
}

function reopenWorktree(worktree: Worktree, prefix: string, { base }: WorktreeRequest): MadeWorktree {
  if (base !== undefined) {
    throw usageError(
      `The worktree ${worktree.name} already exists, so --worktree-base has no meaning. Choose another name, or leave it out.`,
    );
  }
  if (!existsSync(worktree.path)) {
    throw usageError(
      `The worktree ${worktree.name} has lost its directory ${worktree.path}. Remove it with: ${programName()} worktrees remove ${worktree.name}`,
    );
  }
  const workspace = join(worktree.path, prefix);
  mkdirSync(workspace, { recursive: true });
  return { worktree, workspace, notices: [] };
}

/** Do not copy pipes and devices. */
function filter(from: string): boolean {
  const stat = lstatSync(from);
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
}

async function checkOut({ path, name, base, objects }: Worktree, call: GitCall): Promise<void> {
  const common = dirname(objects);
  const gitFile = join(path, ".git");
  mkdirSync(path, { mode: 0o700 });
  await git(["clone", "--quiet", "--mirror", "--shared", "--no-recurse-submodules", "--", common, gitFile], call);
  // Take over the source's remotes, identity, filters and line endings, but not the location of its files.
  writeFileSync(join(gitFile, "config"), readFileSync(join(common, "config")));
  for (const folder of ["hooks", "info"])
    if (existsSync(join(common, folder)))
      cpSync(join(common, folder), join(gitFile, folder), { recursive: true, filter });
  const inside = { ...call, cwd: path };
  await git(["config", "--file", join(gitFile, "config"), "core.bare", "false"], inside);
  for (const setting of ["core.worktree", "extensions.worktreeConfig"])
    await tryGit(["config", "--file", join(gitFile, "config"), "--unset-all", setting], inside);
  await tryGit(["update-ref", "-d", "refs/stash"], inside);
  await git(["checkout", "--quiet", "--no-track", "-B", `courser/${name}`, base], inside);
}

/** Returns a notice about uncommitted changes that the worktree does not contain. */
async function uncommittedNotice({ source }: Worktree, call: GitCall): Promise<string[]> {
  const { stdout } = await tryGit(["status", "--porcelain", "-z", "--no-renames"], { ...call, cwd: source });
  const count = stdout.split("\0").length - 1;
  if (count <= 0) return [];
  return [
    `${count} uncommitted ${count === 1 ? "change" : "changes"} of ${source} ${count === 1 ? "is" : "are"} not in the worktree.`,
  ];
}

function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !name.includes("..") && !/\.(lock|json)$|\.$/.test(name))
    return;
  throw usageError(
    `'${name}' cannot be the name of a worktree: letters, digits, '.', '_' and '-' only. Put the prompt first, or after --: ${programName()} -w fix-login -- "…"`,
  );
}

function noBase(wanted: string, source: string): UserError {
  return wanted === "HEAD"
    ? usageError(`${source} has no commit yet, so there is nothing to base a worktree on. Commit first.`)
    : usageError(`--worktree-base '${wanted}' is not a commit of ${source}. See: git log --oneline --all`);
}
