// The paths of the sandbox files. It runs at every start, so it imports nothing heavy.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { tryOr } from "../text/try-or.ts";

/** Where to look for sandbox settings. If the workspace is a copy, `standsFor` is the original folder. */
export type SandboxPaths = { configDir: string; workspace: string; standsFor?: string };

export function userSandboxFile(configDir: string): string {
  return join(configDir, "sandbox.json");
}

export function projectSandboxFile(workspace: string): string {
  return join(workspace, ".cursor", "sandbox.json");
}

/** Returns whether any sandbox file exists, even a broken one. */
export function hasSandboxFile({ configDir, workspace, standsFor = workspace }: SandboxPaths): boolean {
  return [userSandboxFile(configDir), ...[workspace, standsFor].map(projectSandboxFile)].some(isThere);
}

function isThere(file: string): boolean {
  // Reading the file later will report the problem.
  return tryOr(() => lstatSync(file, { throwIfNoEntry: false }) !== undefined, true);
}
