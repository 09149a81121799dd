// Records which workspaces the user trusts, and in which commands run in the sandbox without a
// question: one marker each, outside the workspace.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldsOf } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import { tryOr } from "../text/try-or.ts";
import { inheritHooks } from "./hook-trust.ts";
import { realPathOrSame, replaceFile } from "./json-file.ts";
import { projectDir } from "./project.ts";

const markerName = ".workspace-trusted";
/** Marks workspaces where commands run in the sandbox without a question. */
const sandboxMarker = ".commands-in-sandbox";

export function isTrusted(configDir: string, workspace: string): boolean {
  return isMarked(configDir, workspace, markerName);
}

export function usesSandbox(configDir: string, workspace: string): boolean {
  return isMarked(configDir, workspace, sandboxMarker);
}

export function useSandbox(configDir: string, workspace: string): void {
  mark(configDir, workspace, sandboxMarker);
}

/** Ends the use of the sandbox in a workspace. Returns false if it was not in use there. */
export function stopUsingSandbox(configDir: string, workspace: string): boolean {
  return removeMarker(configDir, workspace, sandboxMarker);
}

function isMarked(configDir: string, workspace: string, name: string): boolean {
  const real = realPathOrSame(workspace);
  // The folder's name is ambiguous (/a/b and /a-b share it), the recorded path is not.
  return workspaceIn(markerOf(configDir, real, name)) === real;
}

function workspaceIn(marker: string): unknown {
  return fieldsOf(tryOr(() => JSON.parse(readFileSync(marker, "utf8")), undefined))["workspacePath"];
}

/** Returns their real paths, sorted. Some may no longer exist. */
export function trustedFolders(configDir: string): string[] {
  const found = namesIn(join(configDir, "projects")).flatMap((name) => {
    const path = workspaceIn(join(configDir, "projects", name, markerName));
    return typeof path === "string" && isTrusted(configDir, path) ? [path] : [];
  });
  return found.sort();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw new UserError(
      "FILE_UNREADABLE",
      `${folder}, where trust is kept, cannot be read: ${systemErrorText(error)}. Fix its owner and mode (chmod u+rwx).`,
    );
  }
}

export function trust(configDir: string, workspace: string): void {
  mark(configDir, workspace, markerName);
}

function mark(configDir: string, workspace: string, name: string): void {
  const real = realPathOrSame(workspace);
  if (isMarked(configDir, real, name)) return;
  const marker = { trustedAt: new Date().toISOString(), workspacePath: real };
  replaceFile(markerOf(configDir, real, name), `${JSON.stringify(marker, null, 2)}\n`);
}

/** Revokes the trust in a workspace, and removes its sandbox marker. Returns false if it was not trusted. */
export function revokeTrust(configDir: string, workspace: string): boolean {
  removeMarker(configDir, workspace, sandboxMarker);
  return removeMarker(configDir, workspace, markerName);
}

function removeMarker(configDir: string, workspace: string, name: string): boolean {
  const real = realPathOrSame(workspace);
  if (!isMarked(configDir, real, name)) return false;
  rmSync(markerOf(configDir, real, name), { force: true });
  return true;
}

/** Returns whether a folder is not a project but contains all of them. */
export function isWide(workspace: string, home: string): boolean {
  return (
    workspace === dirname(workspace) ||
    workspace === realPathOrSame(home) ||
    workspace === dirname(realPathOrSame(home))
  );
}

/** Trusts a copy of a trusted workspace, and approves its hooks as far as they are the same. */
export function inheritTrust(configDir: string, from: string, to: string): void {
  trust(configDir, to);
  inheritHooks({ configDir, workspace: realPathOrSame(from) }, realPathOrSame(to));
}

function markerOf(configDir: string, workspace: string, name: string): string {
  return join(projectDir(configDir, workspace), name);
}
