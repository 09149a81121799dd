// Which files of a workspace are sent to a fleet: what git would take, and nothing that looks like a secret.
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { holdsSecrets } from "../../policy/secret-files.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { byteSize } from "../../view/numbers.ts";
import { entries, type GitCall, git, tryGit } from "../../worktrees/git.ts";

export type FilesToSend = {
  files: readonly string[];
  bytes: number;
  /** Left out by their names. */
  secrets: readonly string[];
  /** Left out: repositories of their own, links that lead out, and what is neither a file nor a link. */
  others: readonly string[];
};

export const mostFiles = 50_000;
export const mostBytes = 256 * 1024 * 1024;

/** `isWhole`: everything in it, what git ignores and what looks like a secret too. Throws UserError for a workspace that is too large to be sent. */
export async function filesToSend(
  workspace: string,
  { isWhole = false, ...call }: Omit<GitCall, "cwd"> & { isWhole?: boolean },
): Promise<FilesToSend> {
  const files: string[] = [];
  const sizes: { path: string; size: number }[] = [];
  const secrets: string[] = [];
  const others: string[] = [];
  let bytes = 0;
  const paths = isWhole ? everythingIn(workspace) : await pathsOf({ ...call, cwd: workspace });
  for (const path of paths) {
    if (!isWhole && holdsSecrets(path)) {
      secrets.push(path);
      continue;
    }
    const stat = lstatSync(join(workspace, path), { throwIfNoEntry: false });
    if (!stat) continue; // git knows it, and it was deleted
    if (!stat.isFile() && !(stat.isSymbolicLink() && staysInside(workspace, path))) {
      others.push(path);
      continue;
    }
    files.push(path);
    bytes += stat.size;
    sizes.push({ path, size: stat.size });
  }
  if (files.length > mostFiles || bytes > mostBytes) throw tooLarge(workspace, { count: files.length, bytes, sizes });
  return { files, bytes, secrets, others };
}

/** Of a link: a worker takes no archive that leads out of its folder. */
function staysInside(workspace: string, path: string): boolean {
  const target = readlinkSync(join(workspace, path));
  const way = posix.join(posix.dirname(path), target);
  return !isAbsolute(target) && way !== ".." && !way.startsWith("../");
}

function everythingIn(workspace: string): string[] {
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(workspace, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
}

/**
 * What git has of the folder, and what it would add. A folder that is not in a repository has its .gitignore heeded as well.
 * `only`: of these paths alone.
 */
export async function pathsOf(call: GitCall, only: readonly string[] = []): Promise<string[]> {
  const inside = await tryGit(["rev-parse", "--is-inside-work-tree"], call);
  if (inside.problem === undefined) {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ...only];
    return entries(await git(args, call));
  }
  const folder = mkdtempSync(join(tmpdir(), "courser-upload-"));
  try {
    await git(["init", "--quiet", "--bare", folder], call);
    const at = { ...call, variables: { GIT_DIR: folder, GIT_WORK_TREE: call.cwd } };
    return entries(await git(["ls-files", "-z", "--others", "--exclude-standard", "--", ...only], at));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tooLarge(
  workspace: string,
  { count, bytes, sizes }: { count: number; bytes: number; sizes: { path: string; size: number }[] },
): UserError {
  const largest = sizes
    .sort((one, other) => other.size - one.size)
    .slice(0, 3)
    .map(({ path, size }) => `${path} (${byteSize(size)})`);
  return new UserError(
    "USAGE",
    `${workspace} is too large to be sent: ${count} files, ${byteSize(bytes)}; at most ${mostFiles} files and ${byteSize(mostBytes)}. ` +
      `The largest: ${largest.join(", ")}. Name in .gitignore what is not needed, or let workers fetch it: --source git`,
  );
}
