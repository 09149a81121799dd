// Finds the workspaces that the service may use and reads files in them: trusted folders only, and nothing outside them.

import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import { holdsSecrets } from "../redact/secret-files.ts";
import { isTrusted } from "../store/trust.ts";
import { programName } from "../text/program-name.ts";
import { tryOr } from "../text/try-or.ts";

const maxFileBytes = 2 * 1024 * 1024;
const maxEntries = 2000;

/** Returns the real path of a trusted directory; throws a UserError for any other. */
export function trustedWorkspace(configDir: string, workspace: string): string {
  const real = isAbsolute(workspace) ? realPathIfAny(workspace) : undefined;
  if (real === undefined || !statSync(real).isDirectory())
    throw new UserError("CWD_MISSING", "The workspace must be the absolute path of a directory that exists.");
  if (isTrusted(configDir, real)) return real;
  throw new UserError(
    "UNTRUSTED",
    `${real} is not trusted. Trust it where you can see what is in it: cd there, and start ${programName()} --trust.`,
  );
}

export type FolderEntry = { name: string; type: "file" | "folder" | "other" };

/** Lists a folder of the workspace; `path` is relative to the workspace. */
export function listFolder(workspace: string, path: string): FolderEntry[] {
  const folder = resolveInside(workspace, path);
  if (!statSync(folder).isDirectory()) throw notFound(path);
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => ({
      name: entry.name,
      type: entry.isDirectory() ? ("folder" as const) : entry.isFile() ? ("file" as const) : ("other" as const),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, maxEntries);
}

export function readWorkspaceFile(workspace: string, path: string): { text: string; bytes: number; isCut: boolean } {
  const file = resolveInside(workspace, path);
  const stat = statSync(file);
  if (!stat.isFile()) throw notFound(path);
  // Hide files with secrets, like the views of changes do.
  if (holdsSecrets(file) || holdsSecrets(path))
    throw new UserError("FILE_UNREADABLE", `${JSON.stringify(path)} is not shown: its name suggests secrets.`);
  const fileStart = readFileStart(file, Math.min(stat.size, maxFileBytes));
  return { text: fileStart.toString("utf8"), bytes: stat.size, isCut: stat.size > fileStart.length };
}

function readFileStart(file: string, bytes: number): Buffer {
  const handle = openSync(file, "r");
  try {
    const start = Buffer.alloc(bytes);
    return start.subarray(0, readSync(handle, start, 0, bytes, 0));
  } finally {
    closeSync(handle);
  }
}

/** Resolves links before it checks that the path stays inside. */
function resolveInside(workspace: string, path: string): string {
  if (path.includes("\0") || isAbsolute(path)) throw notFound(path);
  const real = realPathIfAny(join(workspace, path));
  if (real === undefined) throw notFound(path);
  const way = relative(workspace, real);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) throw notFound(path);
  return real;
}

function notFound(path: string): UserError {
  return new UserError("FILE_UNREADABLE", `${JSON.stringify(path)} is not a file of the workspace.`);
}

function realPathIfAny(path: string): string | undefined {
  return tryOr(() => realpathSync(path), undefined);
}
