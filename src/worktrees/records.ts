// Stores a record for each worktree: a file beside it in <config>, where agents do not write.
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { isObject } from "../json/object.ts";
import { usageError } from "../protocol/error-codes.ts";
import { readJson, realPathOrSame, replaceFile } from "../store/json-file.ts";

export type WorktreeRecord = {
  name: string;
  /** The checkout from which the worktree was created. */
  source: string;
  /** The folder of the source's objects, which the worktree borrows. */
  objects: string;
  /** The commit from which the worktree was created. */
  base: string;
  createdAt: string;
  /** The last merge into the source: the tree of the worktree's files at that time. */
  merged?: { tree: string; at: string };
};

export type Worktree = WorktreeRecord & {
  /** The path of the worktree. */
  path: string;
};

export function worktreesDir(configDir: string): string {
  return join(configDir, "worktrees");
}

/** Reserves a name atomically and writes its record. Throws a UserError if the name is taken. */
export function takeName(configDir: string, record: WorktreeRecord): Worktree {
  const path = join(worktreesDir(configDir), basename(record.source), record.name);
  const file = recordFile(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const whole = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(whole, formatRecord(record), { mode: 0o600 });
    linkSync(whole, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw usageError(`The worktree ${record.name} already exists at ${path}. Choose another name.`);
  } finally {
    rmSync(whole, { force: true });
  }
  return { ...record, path };
}

export function saveRecord({ path, ...record }: Worktree): void {
  replaceFile(recordFile(path), formatRecord(record));
}

/** Deletes the worktree's folder and its record. */
export function forget(worktree: Pick<Worktree, "path">): void {
  rmSync(worktree.path, { recursive: true, force: true });
  rmSync(recordFile(worktree.path), { force: true });
}

/** Returns all worktrees, newest first. */
export function listWorktrees(configDir: string): Worktree[] {
  const folder = worktreesDir(configDir);
  const found = namesIn(folder).flatMap((repository) =>
    namesIn(join(folder, repository))
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => readRecord(join(folder, repository, name.slice(0, -".json".length))) ?? []),
  );
  return found.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
}

export function findWorktree(configDir: string, source: string, name: string): Worktree | undefined {
  const found = readRecord(join(worktreesDir(configDir), basename(source), name));
  return found?.source === source ? found : undefined;
}

/** Returns the worktree that contains `directory`, which must be a real path. */
export function worktreeAt(configDir: string, directory: string): Worktree | undefined {
  const folder = worktreesDir(realPathOrSame(configDir));
  const [repository, name] = relative(folder, directory).split(sep);
  return repository && name && repository !== ".." ? readRecord(join(folder, repository, name)) : undefined;
}

function readRecord(path: string): Worktree | undefined {
  const file = recordFile(path);
  if (!existsSync(file)) return undefined;
  const { createdAt, merged, ...record } = readJson(file) ?? {};
  const { name, source, objects, base } = record;
  if (!isText(name) || !isText(source) || !isText(objects) || !isText(base)) return undefined;
  const { tree, at } = isObject(merged) ? merged : {};
  return {
    name,
    source,
    objects,
    base,
    path,
    createdAt: isText(createdAt) ? createdAt : "",
    ...(isText(tree) && isText(at) && { merged: { tree, at } }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function recordFile(path: string): string {
  return `${path}.json`;
}

function formatRecord(record: WorktreeRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}
