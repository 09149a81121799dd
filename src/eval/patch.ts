// Takes an attempt's changes to its workspace as a patch, with a repository beside it, so that one inside is not touched.
import { runWatched } from "../process/irregular-files.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AttemptFolders } from "./folders.ts";
import { identity } from "./scripts.ts";

export interface Snapshot {
  /** The changes since the snapshot, without files that the workspace's .gitignore excludes. */
  patch(): Promise<string>;
}

export async function takeSnapshot({ diff, work }: AttemptFolders, env: NodeJS.ProcessEnv): Promise<Snapshot> {
  const git = async (...args: string[]) => {
    const place = [`--git-dir=${diff}`, `--work-tree=${work}`];
    const end = await runWatched({
      command: ["git", ...place, ...settings, ...args],
      cwd: work,
      env: { PATH: env["PATH"], ...identity, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      timeoutMs: 120_000,
      keepBytes: maxBytes,
      plain: true,
    });
    if (end.exitCode === 0) return end.stdout.toString("utf8");
    const why = end.failure?.message ?? end.stderr.trim().split("\n")[0];
    throw new UserError(
      "GIT_FAILED",
      `git ${args[0]} failed: ${why}. Git must be installed: the patch is made with it.`,
    );
  };
  await git("init", "--quiet");
  await git("add", "--all");
  const tree = (await git("write-tree")).trim();
  return {
    async patch() {
      await git("add", "--all");
      return git("diff-index", "--cached", "--patch", "--binary", "--no-ext-diff", "--no-textconv", tree);
    },
  };
}

const maxBytes = 64 * 1024 * 1024;
const settings = ["core.autocrlf=false", "core.fsmonitor=false", "core.hooksPath=/dev/null"].flatMap((each) => [
  "-c",
  each,
]);
