// Opens the worktree that a request asks for, and returns the request with the worktree as its workspace.
import type { RunRequest } from "../protocol/run.ts";
import { readRunRequest } from "../protocol/run-request.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { configDir } from "../store/config-dir.ts";
import { inheritTrust, isTrusted, trust } from "../store/trust.ts";
import { openWorktree } from "../worktrees/create.ts";
import type { RunHost } from "./host.ts";
import { realDirectory } from "./real-directory.ts";
import { untrustedError } from "./setup.ts";

export type InWorktree = { request: RunRequest; notices: string[] };

/** Creates the worktree of a request. It inherits the trust of its workspace, which is checked before anything is created. */
export async function inWorktree(
  given: RunRequest,
  host: Pick<RunHost, "env" | "program" | "seams" | "signal">,
): Promise<InWorktree> {
  const { worktree, ...request } = readRunRequest(given);
  if (!worktree) return { request, notices: [] };
  const workspace = realDirectory(request.workspace, "--workspace");
  const config = configDir(host.env);
  const trusted = request.trust === true || isTrusted(config, workspace);
  if (!trusted && !request.force) throw untrustedError(workspace);
  if (request.trust) trust(config, workspace);
  const opened = await openWorktree({
    configDir: config,
    env: host.env,
    workspace,
    name: worktree.name ?? `run-${(host.seams?.newId ?? randomUuid)().slice(0, 8)}`,
    setup: trusted && !worktree.skipSetup,
    ...(worktree.base !== undefined && { base: worktree.base }),
    ...(host.signal && { signal: host.signal }),
  });
  if (trusted) inheritTrust(config, workspace, realDirectory(opened.workspace, "--workspace"));
  return {
    request: { ...request, workspace: opened.workspace },
    notices: [`Using worktree: ${opened.workspace}`, ...opened.notices],
  };
}
