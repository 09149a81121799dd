// Manages the repositories that a worker caches for later runs: tracks which are in use, and removes old ones.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../store/chats/sha256.ts";
import { withFileLock } from "../store/file-lock.ts";

export type CacheLimits = {
  bytes: number;
  /** How many milliseconds an unused repository is kept. */
  ageMs: number;
};

/** A folder in each repository with a file per checkout that borrows its objects, holding the path of the checkout. */
const usesFolder = "courser-uses";
const keptName = /\.git$/;
const setAsideName = /\.removed$/;
/** The shortest time between two automatic trims, in milliseconds. */
const lookAgainMs = 60_000;

export function keptRepository(cache: string, from: string): string {
  return join(cache, `${sha256(from).slice(0, 32)}.git`);
}

/** Marks the repository as in use while there is a folder at `checkout`, which is created here. */
export function useRepository(store: string, checkout: string): void {
  const uses = join(store, usesFolder);
  withFileLock(lockOf(join(store, "..")), () => {
    mkdirSync(checkout, { recursive: true, mode: 0o700 });
    mkdirSync(uses, { recursive: true, mode: 0o700 });
    writeFileSync(join(uses, sha256(checkout).slice(0, 32)), checkout);
    const now = new Date();
    utimesSync(store, now, now);
  });
}

/** Removes repositories unused for too long, then the least recently used until the rest fits; never those in use. */
export async function trimRepositories(
  cache: string,
  { bytes, ageMs }: CacheLimits,
): Promise<{ removed: number; bytes: number }> {
  const gone = { removed: 0, bytes: 0 };
  if (!existsSync(cache)) return gone;
  const names = readdirSync(cache);
  // Remove what a killed process had renamed in order to delete it.
  for (const name of names.filter((each) => setAsideName.test(each))) await rm(join(cache, name), anyway);
  const kept = await Promise.all(
    names
      .filter((name) => keptName.test(name))
      .map(async (name) => {
        const path = join(cache, name);
        return { path, bytes: await bytesIn(path), usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
      }),
  );
  let total = kept.reduce((sum, each) => sum + each.bytes, 0);
  for (const each of kept.sort((one, other) => one.usedAt - other.usedAt)) {
    // the remaining repositories were used more recently
    if (total <= bytes && Date.now() - each.usedAt <= ageMs) break;
    const aside = setAside(cache, each.path, each.usedAt);
    if (aside === undefined) continue;
    await rm(aside, anyway);
    total -= each.bytes;
    gone.removed++;
    gone.bytes += each.bytes;
  }
  return gone;
}

/** Trims unless a process on this machine did so recently. Failures are ignored. */
export async function trimNowAndThen(cache: string, limits: CacheLimits): Promise<void> {
  const stamp = join(cache, "..", "trimmed");
  try {
    const last = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Math.abs(Date.now() - last) < lookAgainMs) return;
    writeFileSync(stamp, "", { mode: 0o600 });
    await trimRepositories(cache, limits);
  } catch {
    // The next call tries again.
  }
}

const anyway = { recursive: true, force: true, maxRetries: 3 } as const;

/** Renames a repository, to be deleted. Returns undefined if it is in use, or was used since it was listed. */
function setAside(cache: string, path: string, usedAt: number): string | undefined {
  return withFileLock(lockOf(cache), () => {
    if (isInUse(path) || statSync(path, { throwIfNoEntry: false })?.mtimeMs !== usedAt) return undefined;
    const aside = `${path}.${process.pid}.removed`;
    renameSync(path, aside);
    return aside;
  });
}

function isInUse(store: string): boolean {
  const folder = join(store, usesFolder);
  const uses = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const over = uses.filter((use) => !lstatSync(readFileSync(use, "utf8"), { throwIfNoEntry: false }));
  for (const use of over) rmSync(use, { force: true });
  return over.length < uses.length;
}

function lockOf(cache: string): string {
  return join(cache, "lock");
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries)
    if (entry.isFile()) sum += (await lstat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  return sum;
}
