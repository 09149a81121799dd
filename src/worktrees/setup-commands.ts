// Runs the setup commands of `.cursor/worktrees.json`, with which a project prepares a new worktree.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runProgram } from "../process/run-program.ts";
import { UserError } from "../protocol/error-codes.ts";
import { toolEnvironment } from "../redact/tool-environment.ts";
import { readJson } from "../store/json-file.ts";
import type { Worktree } from "./records.ts";

const longestMs = 15 * 60_000;

/** Uses the worktree's own file, or else the source's, which need not be committed. */
export async function runSetup(
  { path, source }: Worktree,
  { env, signal }: { env: NodeJS.ProcessEnv; signal?: AbortSignal },
): Promise<void> {
  const file = [path, source]
    .map((folder) => join(folder, ".cursor", "worktrees.json"))
    .find((each) => existsSync(each));
  if (!file) return;
  for (const command of commandsIn(file)) {
    const end = await runProgram({
      command,
      cwd: path,
      env: { ...toolEnvironment(env), ROOT_WORKTREE_PATH: source },
      timeoutMs: longestMs,
      ...(signal && { signal }),
    });
    signal?.throwIfAborted();
    if (end.exitCode !== 0)
      throw setupFailedError(file, command.at(-1)!, { ...end, stdout: end.stdout.toString("utf8") });
  }
}

/** Returns the program and arguments of each command. */
export function commandsIn(file: string): string[][] {
  const settings = readJson(file) ?? {};
  const platformKey = process.platform === "win32" ? "setup-worktree-windows" : "setup-worktree-unix";
  const key = [platformKey, "setup-worktree"].find((name) => settings[name] !== undefined);
  const setup = key === undefined ? [] : settings[key];
  if (typeof setup === "string") return [["bash", resolve(dirname(file), setup)]];
  if (Array.isArray(setup) && setup.every((each) => typeof each === "string"))
    return setup.map((command) => ["bash", "-c", command]);
  throw new UserError("CONFIG_INVALID", `${file}: "${key}" must be a list of commands, or the path of a script.`);
}

type FailedCommand = { exitCode: number | null; stdout: string; stderr: string; timedOut: boolean; failure?: unknown };

function setupFailedError(file: string, command: string, end: FailedCommand): UserError {
  const why = end.timedOut
    ? "took longer than 15 minutes"
    : end.failure
      ? "could not be started"
      : `exited with code ${end.exitCode}`;
  const lastOutput = `${end.stdout}\n${end.stderr}`.trim().split("\n").slice(-10).join("\n");
  return new UserError(
    "WORKTREE_SETUP",
    `The setup of the worktree failed, and the worktree was removed: '${command}' of ${file} ${why}.${lastOutput === "" ? "" : `\n${lastOutput}`}\nWithout the setup: --skip-worktree-setup`,
  );
}
