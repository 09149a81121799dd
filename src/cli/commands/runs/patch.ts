// `runs patch`: prints the changes of a run for `git apply`, or applies them here.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { floorOf, realOrSame, resolvePath } from "../../../policy/paths.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import { unlessStopped } from "../../../protocol/unless-stopped.ts";
import { isOver, type RunRecord } from "../../../serve/fleet.ts";
import { patchOf } from "../../../serve/patch.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import { programName } from "../../../text/program-name.ts";
import { type GitCall, git } from "../../../worktrees/git.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { handleShutdown } from "../../shutdown.ts";
import { answer } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { chosenRun, withFleet } from "./context.ts";

export function showPatch(invocation: Invocation, words: readonly string[]): Promise<number> {
  return withFleet(invocation, async (fleet) => {
    const run = await chosenRun(fleet, words, invocation);
    const patch = await patchOf(fleet, run);
    if (!patch) throw noPatch(run, invocation.name);
    // The bytes are unchanged, because the patch may contain files in another encoding.
    if (!invocation.line.flags.has("apply")) return answer(patch);
    refuseAgents(invocation, "what is changed outside of their workspace");
    return apply(patch, run, invocation);
  });
}

/** Applies a patch. In a subfolder of a repository, the patch's paths are relative to that subfolder. */
async function apply(patch: Buffer, run: RunRecord, { env, line }: Invocation): Promise<number> {
  const cwd = flagText(line.flags, "workspace") ?? process.cwd();
  if (patch.length === 0) return answer(`${run.id} changed nothing.\n`);
  const call = { cwd, env };
  // Once started, finish applying the patch even if a signal arrives.
  const stop = new AbortController();
  const watch = handleShutdown(stop, { env });
  watch.cut = () => {};
  const folder = mkdtempSync(join(tmpdir(), "courser-patch-"));
  try {
    const prefix = (await git(["rev-parse", "--show-prefix"], { ...call, signal: stop.signal })).trim();
    const file = join(folder, "patch");
    writeFileSync(file, patch, { mode: 0o600 });
    const guarded = await protectedIn(file, { ...call, signal: stop.signal }, prefix);
    if (guarded.length > 0)
      throw new UserError(
        "MERGE_REFUSED",
        `The patch changes files that can run code: ${guarded.join(", ")}. Nothing was applied. Look at it, then apply it yourself: ${programName()} runs patch ${run.id} | git apply`,
      );
    await unlessStopped(stop.signal, () => git(["apply", "--whitespace=nowarn", ...placedIn(prefix), file], call));
  } finally {
    watch.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return answer(`✓ Applied what ${run.id} changed.\n`);
}

function placedIn(prefix: string): string[] {
  return prefix === "" ? [] : [`--directory=${prefix}`];
}

/**
 * Finds the protected paths in a patch, which a worker must not write here unseen; the same names as for agents. `prefix` is this folder in
 * its repository: git leaves out paths that it takes to be elsewhere.
 */
export async function protectedIn(file: string, call: GitCall, prefix = ""): Promise<string[]> {
  // List the patch in both directions, since each lists a moved file by only one of its names.
  const ways = [["apply"], ["apply", "-R"]].map((way) => [...way, "--numstat", "-z", ...placedIn(prefix), file]);
  const fields = (await Promise.all(ways.map((way) => git(way, call)))).flatMap((text) => text.split("\0"));
  const names = fields.map((field) => field.replace(/^[^\t]*\t[^\t]*\t/, "").slice(prefix.length));
  const paths = [...new Set(names.filter((name) => name !== ""))];
  const workspace = realOrSame(call.cwd);
  const place = { workspace, roots: [], home: homeDir(call.env), configDir: configDir(call.env) };
  return paths.filter((path) => {
    const found = resolvePath(path, place);
    return "problem" in found || floorOf(found, place) !== undefined;
  });
}

function noPatch(run: RunRecord, program: string): UserError {
  const why = !isOver(run.state)
    ? "It is not over yet."
    : run.isPruned
      ? "What it did is not kept any more."
      : run.spec.source === undefined
        ? `It worked in ${run.spec.request.workspace} itself: look there.`
        : "It ended before there was one.";
  return new UserError("RUN_NOT_FOUND", `${run.id} has no patch. ${why} More about it: ${program} runs show ${run.id}`);
}
