// Checks out repositories for runs from a cache of bare repositories, so that a thousand runs on one repository fetch its objects
// once. Names given by a run are data: nothing in them becomes an option or a command.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { type GitCall, git, tryGit } from "./git.ts";
import { keptRepository, useRepository } from "./kept-repositories.ts";

export type RepositorySource = {
  /** An absolute path of a repository or a bundle, or an https or ssh URL. */
  from: string;
  /** A branch, a tag or a commit; the default branch if absent. */
  ref?: string;
};

export type CheckOut = {
  /** The path for the checkout: an empty or missing folder. */
  path: string;
  /** The branch that is created in the checkout. */
  branch: string;
  /** The folder with cached repositories. */
  cache: string;
  /** Checks out this commit, even if the ref has moved. */
  commit?: string;
};

export type CheckedOut = {
  commit: string;
  /** The folder with the objects that the checkout borrows. */
  objects: string;
  /** The repository itself, if it is on this disk and branches can be pushed to it. */
  home?: string;
};

/** The allowed protocols, which also apply to redirects by a server. */
const protocols = { GIT_ALLOW_PROTOCOL: "https:ssh:file" };
const noModules = ["--no-recurse-submodules"];

/** Checks out a repository. Throws a UserError without secrets in its message. */
export async function checkOutRepository(
  source: RepositorySource,
  { path, branch, cache, commit: wanted }: CheckOut,
  { env, signal }: Pick<GitCall, "env" | "signal">,
): Promise<CheckedOut> {
  const from = addressOf(source.from);
  checkRef(source.ref);
  const store = keptRepository(cache, from);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  useRepository(store, path);
  const call: GitCall = { cwd: cache, env, variables: protocols, ...(signal && { signal }) };
  const commit = await runAlone(store, async () => {
    await git(["init", "--quiet", "--bare", "--", store], call);
    return storeCommit({ from, ...(source.ref !== undefined && { ref: source.ref }) }, wanted, { ...call, cwd: store });
  });
  await git(["clone", "--quiet", "--shared", "--no-checkout", ...noModules, "--", store, path], call);
  const inside = { ...call, cwd: path };
  await git(["remote", "set-url", "origin", from], inside);
  await git(["checkout", "--quiet", "--no-track", "-B", branch, commit], inside);
  const isRepository = isAbsolute(from) && statSync(from).isDirectory();
  return { commit, objects: join(store, "objects"), ...(isRepository && { home: from }) };
}

/** Resolves the commit and fetches it into the store if it is missing. */
async function storeCommit(
  { from, ref }: RepositorySource,
  wanted: string | undefined,
  call: GitCall,
): Promise<string> {
  const commit = wanted ?? (isCommitId(ref) ? ref : undefined);
  if (commit !== undefined) {
    if (await hasCommit(commit, call)) return commit;
    await fetchAll(from, call);
    if (!(await hasCommit(commit, call))) await fetchOne(from, commit, call);
    return commit;
  }
  const found = await lookUp(from, ref ?? "HEAD", call);
  if (found !== undefined && (await hasCommit(found, call))) return found;
  await fetchAll(from, call);
  if (found !== undefined && (await hasCommit(found, call))) return found;
  if (found !== undefined) return fetchOne(from, found, call);
  const named = ref === undefined ? ["main", "master"] : [ref];
  for (const name of named) {
    const { stdout, problem } = await tryGit(["rev-parse", "--verify", "--quiet", `${name}^{commit}`], call);
    if (problem === undefined) return stdout.trim();
  }
  const what = ref === undefined ? "a default branch" : `a branch, tag or commit '${ref}'`;
  throw new UserError("GIT_FAILED", `${from} does not have ${what}. Name one that it has, as ref.`);
}

/** Resolves a ref on the remote. Returns undefined if it has no such ref. */
async function lookUp(from: string, ref: string, call: GitCall): Promise<string | undefined> {
  const names = ref === "HEAD" || ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const listed = (await git(["ls-remote", "--", from, ...names, ...names.map((name) => `${name}^{}`)], call))
    .split("\n")
    .map((line) => line.split("\t"));
  // For an annotated tag, the remote lists both the tag and its commit.
  const ids = new Map(listed.flatMap(([id, name]) => (id && name ? [[name, id] as const] : [])));
  for (const name of names) {
    const id = ids.get(`${name}^{}`) ?? ids.get(name);
    if (id !== undefined) return id;
  }
  return undefined;
}

async function fetchAll(from: string, call: GitCall): Promise<void> {
  const all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  await git(["fetch", "--quiet", "--no-write-fetch-head", ...noModules, "--", from, ...all], call);
}

/** Fetches a commit that no branch contains, such as one of a pull request. */
async function fetchOne(from: string, id: string, call: GitCall): Promise<string> {
  const kept = `+${id}:refs/courser/${id}`;
  await git(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", ...noModules, "--", from, kept], call);
  return id;
}

async function hasCommit(commit: string, call: GitCall): Promise<boolean> {
  return (await tryGit(["cat-file", "-e", `${commit}^{commit}`], call)).problem === undefined;
}

function isCommitId(ref: string | undefined): ref is string {
  return ref !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(ref);
}

/** Checks an absolute path or a supported URL. Runs carry no secrets, so addresses with a login are refused. */
function addressOf(from: string): string {
  if (from.startsWith("file://")) return addressOf(fileURLToPath(from));
  if (isAbsolute(from)) {
    if (existsSync(from)) return from;
    throw new UserError("GIT_FAILED", `There is no repository at ${from} on this worker.`);
  }
  if (/^ssh:\/\/[\w.@:[\]-]+\/\S*$/.test(from) || /^[\w.-]+@[\w.-]+:(?!:)[^\s-]\S*$/.test(from)) return from;
  const isWeb = URL.canParse(from) && new URL(from).protocol === "https:";
  if (isWeb && new URL(from).password === "" && new URL(from).username === "") return from;
  const why = isWeb
    ? "holds a user or a password. Runs carry no secrets: give the worker a credential helper, and leave it out"
    : "is not a repository that a worker takes. Name an absolute path, a bundle, or an https or ssh URL";
  throw usageError(`The source '${isWeb ? new URL(from).host : from.slice(0, 80)}' ${why}.`);
}

function checkRef(ref: string | undefined): void {
  if (ref === undefined || /^(?!-)(?!.*\.\.)[^\s~^:?*[\\\0]{1,255}$/.test(ref)) return;
  throw usageError(`'${ref.slice(0, 80)}' is not a name of a branch, tag or commit.`);
}

const working = new Map<string, Promise<unknown>>();

/** Runs one task at a time per repository in this process. Other processes are kept out by git's own locks. */
async function runAlone<T>(store: string, work: () => Promise<T>): Promise<T> {
  const before = working.get(store) ?? Promise.resolve();
  const mine = before.then(work, work);
  working.set(store, mine);
  try {
    return await mine;
  } finally {
    if (working.get(store) === mine) working.delete(store);
  }
}
