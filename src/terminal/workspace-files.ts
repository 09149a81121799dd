// Lists the files that `@` offers: those of the workspace that no ignore file hides.
import type { ProcessRunner } from "../agent/process.ts";
import { listFiles, type Search } from "../agent/ripgrep.ts";

/** Limits the list, since every key press searches all of it. */
const maxFiles = 50_000;

type WorkspaceFiles = {
  workspace: string;
  processes: ProcessRunner;
  signal: AbortSignal;
  mayRead?(path: string): boolean;
};

export async function workspaceFiles(context: WorkspaceFiles): Promise<readonly string[]> {
  const search: Search = { folder: context.workspace, start: "./", isFile: false };
  const { files } = await listFiles(search, context);
  return files.slice(0, maxFiles);
}
