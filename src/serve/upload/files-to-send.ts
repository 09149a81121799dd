// Selects the files of a workspace that are sent to a fleet: those that git would add, without any that look like secrets.
import { lstatSync, mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { type UserError, usageError } from "../../protocol/error-codes.ts";
import { holdsSecrets } from "../../redact/secret-files.ts";
import { entriesBelow } from "../../store/entries-below.ts";
import { byteSize } from "../../view/numbers.ts";
import { type GitCall, git, splitEntries, tryGit } from "../../worktrees/git.ts";

export type FilesToSend = {
  files: readonly string[];
  bytes: number;
  /** Files that are not sent because their names suggest secrets. */
  secrets: readonly string[];
  /** Paths left out: nested repositories, links that lead out, and anything that is neither a file nor a link. */
  others: readonly string[];
};

export const maxFiles = 50_000;
export const maxBytes = 256 * 1024 * 1024;

/** Lists the files to send. `isWhole` includes ignored files and those that look like secrets. Throws a UserError if they are too large. */
export async function filesToSend(
  workspace: string,
  { isWhole = false, ...call }: Omit<GitCall, "cwd"> & { isWhole?: boolean },
): Promise<FilesToSend> {
  const files: string[] = [];
  const sizes: { path: string; size: number }[] = [];
  const secrets: string[] = [];
  const others: string[] = [];
  let bytes = 0;
  const paths = isWhole ? everythingIn(workspace) : await listPaths({ ...call, cwd: workspace });
  for (const path of paths) {
    if (!isWhole && holdsSecrets(path)) {
      secrets.push(path);
      continue;
    }
    const stat = lstatSync(join(workspace, path), { throwIfNoEntry: false });
    if (!stat) continue; // git lists the file although it was deleted
    if (!stat.isFile() && !(stat.isSymbolicLink() && staysInside(workspace, path))) {
      others.push(path);
      continue;
    }
    files.push(path);
    bytes += stat.size;
    sizes.push({ path, size: stat.size });
  }
  if (files.length > maxFiles || bytes > maxBytes) throw tooLarge(workspace, { count: files.length, bytes, sizes });
  return { files, bytes, secrets, others };
}

/** Checks a link: a worker refuses an archive that leads out of its folder. */
function staysInside(workspace: string, path: string): boolean {
  const target = readlinkSync(join(workspace, path));
  const way = posix.join(posix.dirname(path), target);
  return !isAbsolute(target) && way !== ".." && !way.startsWith("../");
}

function everythingIn(workspace: string): string[] {
  return [...entriesBelow(workspace)]
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(workspace, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
}

/**
 * Lists the files that git tracks in the folder or would add. Outside a repository, the folder's .gitignore is still respected.
 * `only` restricts the list to these paths.
 */
export async function listPaths(call: GitCall, only: readonly string[] = []): Promise<string[]> {
  const inside = await tryGit(["rev-parse", "--is-inside-work-tree"], call);
  if (inside.problem === undefined) {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ...only];
    return splitEntries(await git(args, call));
  }
  const folder = mkdtempSync(join(tmpdir(), "courser-upload-"));
  try {
    await git(["init", "--quiet", "--bare", folder], call);
    const at = { ...call, variables: { GIT_DIR: folder, GIT_WORK_TREE: call.cwd } };
    return splitEntries(await git(["ls-files", "-z", "--others", "--exclude-standard", "--", ...only], at));
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
  return usageError(
    `${workspace} is too large to be sent: ${count} files, ${byteSize(bytes)}; at most ${maxFiles} files and ${byteSize(maxBytes)}. ` +
      `The largest: ${largest.join(", ")}. Name in .gitignore what is not needed, or let workers fetch it: --source git`,
  );
}
