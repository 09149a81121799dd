// Checks that the project files that restrict a run are among those that a fleet gets. Without them, the run would have more
// freedom on the worker than here.
import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { usageError } from "../protocol/error-codes.ts";
import { canRefuse } from "../protocol/hook-events.ts";
import type { RunRequest } from "../protocol/run.ts";
import { configDir, homeDir } from "../store/config-dir.ts";
import { readHookFile } from "../store/hook-files.ts";
import { hookFiles } from "../store/hook-paths.ts";
import { projectSandboxFile } from "../store/sandbox-files.ts";
import { type GitCall, splitEntries, tryGit } from "../worktrees/git.ts";
import type { SourceChoice } from "./send-files.ts";
import { listPaths } from "./upload/files-to-send.ts";

/** Throws a UserError if files with restrictions are not sent with the run. Deny rules are in the request, so they are not checked. */
export async function refuseRestrictionsLeftBehind(
  { workspace, withoutLocalHooks = false }: RunRequest,
  choice: SourceChoice,
  { env, signal }: Omit<GitCall, "cwd">,
): Promise<void> {
  const files = restrictingFiles(workspace, { env, withHooks: !withoutLocalHooks });
  if (files.length === 0) return;
  const left = await filesNotSent(files, choice, { cwd: workspace, env, ...(signal && { signal }) });
  if (left.length === 0) return;
  throw usageError(
    `These files restrict runs in ${workspace}, and would not reach the worker: ${left.join(", ")}. ` +
      (choice.type === "upload"
        ? "Git ignores them. Add them with git add --force, so that they are sent. "
        : "They are not in the commit. Commit and push them, or send the files as they are: --source upload. ") +
      "To send the run without hooks: --without-local-hooks.",
  );
}

/** Returns the files that hide something, confine commands or hold hooks that may refuse, relative to the workspace. */
function restrictingFiles(
  workspace: string,
  { env, withHooks }: { env: NodeJS.ProcessEnv; withHooks: boolean },
): string[] {
  const plain = [join(workspace, ".cursorignore"), projectSandboxFile(workspace)].filter((file) => existsSync(file));
  const hooks = hookFiles({ configDir: configDir(env), home: homeDir(env), workspace }).filter(
    (each) => withHooks && each.ofProject && readHookFile(each)?.hooks.some(({ event }) => canRefuse(event)),
  );
  return [...plain, ...hooks.map(({ file }) => file)].map((file) => relative(workspace, file).split(sep).join("/"));
}

async function filesNotSent(files: readonly string[], choice: SourceChoice, call: GitCall): Promise<readonly string[]> {
  switch (choice.type) {
    case "upload": {
      const sent = choice.isWhole ? files : await listPaths(call, files);
      return files.filter((file) => !sent.includes(file));
    }
    case "git":
    case "repository": {
      // Skip a folder outside any repository, since it is not part of the one that the worker fetches.
      const args = ["status", "--porcelain", "-z", "--ignored", "--untracked-files=all", "--", ...files];
      const changed = splitEntries((await tryGit(args, call)).stdout).map((line) => line.slice(3));
      if (choice.type === "git") changed.push(...(await changedSince(choice.ref ?? "HEAD", files, call)));
      return files.filter((file) => changed.some((path) => path === file || path.endsWith(`/${file}`)));
    }
    default:
      return [];
  }
}

/** Returns the files that differ from the commit that the worker checks out, as far as that commit is known here. */
async function changedSince(ref: string, files: readonly string[], call: GitCall): Promise<string[]> {
  for (const known of [`origin/${ref}`, ref]) {
    const args = ["diff", "--name-only", "-z", "--relative", "--end-of-options", known, "--", ...files];
    const { stdout, problem } = await tryGit(args, call);
    if (problem === undefined) return splitEntries(stdout);
  }
  return [];
}
