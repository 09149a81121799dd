// Where the files of the sandbox lie. Asked at every start, so it loads nothing.
import { lstatSync } from "node:fs";
import { join } from "node:path";

/** `standsFor`: the folder that the workspace is a copy of. */
export type SandboxPaths = { configDir: string; workspace: string; standsFor?: string };

export function userSandboxFile(configDir: string): string {
  return join(configDir, "sandbox.json");
}

export function projectSandboxFile(workspace: string): string {
  return join(workspace, ".cursor", "sandbox.json");
}

/** Is there something to be read, be it broken? */
export function hasSandboxFile({ configDir, workspace, standsFor = workspace }: SandboxPaths): boolean {
  return [userSandboxFile(configDir), ...[workspace, standsFor].map(projectSandboxFile)].some(isThere);
}

function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // whoever reads it will say what is wrong
  }
}
