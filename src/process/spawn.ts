// How children are spawned, and what was missing when one could not be.

import type { ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { spawnWords } from "./windows-command.ts";

type SpawnRequest = {
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** "inherit": our own. Else what it says is read, and what it hears is written or nothing. */
  streams: "pipe" | "noInput" | "inherit";
  /** Two more descriptors, 3 to be read and 4 to be written by the program. */
  channel: boolean;
  /** Stays in our own session. */
  plain?: boolean;
};

export function spawnChild({ command, cwd, env, streams, channel, plain }: SpawnRequest): ChildProcess {
  const { spawn } = process.getBuiltinModule("node:child_process"); // loaded when the first child is started
  const more: "pipe"[] = channel ? ["pipe", "pipe"] : [];
  const [first, ...rest] = command;
  const { program, args, verbatim } = spawnWords(first!, rest, shellOf(env));
  return spawn(program, [...args], {
    cwd,
    env,
    // No controlling terminal to ask for passwords on, and one group to signal.
    detached: !plain && process.platform !== "win32",
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
    stdio: streams === "inherit" ? streams : [streams === "pipe" ? "pipe" : "ignore", "pipe", "pipe", ...more],
  });
}

function shellOf(env: SpawnRequest["env"]): { shell?: string } {
  const shell = env["ComSpec"] ?? env["COMSPEC"];
  return shell === undefined ? {} : { shell };
}

/** `code`: what is missing, where that is known. */
export type StartFailure = { code?: "CWD_MISSING" | "CLI_NOT_FOUND"; message: string; cause: unknown };

export function startFailure(cause: unknown, program: string, cwd: string): StartFailure {
  // The system says ENOENT for a missing folder as for a missing program.
  const why = folderProblem(cwd);
  if (why !== undefined) return { code: "CWD_MISSING", message: `The working directory ${cwd} ${why}.`, cause };
  switch ((cause as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return { code: "CLI_NOT_FOUND", message: `${program} was not found. Is it installed and in PATH?`, cause };
    case "EACCES":
      return { code: "CLI_NOT_FOUND", message: `${program} is not executable.`, cause };
  }
  return { message: cause instanceof Error ? cause.message : String(cause), cause };
}

function folderProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return "is not a directory";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "cannot be entered" : "does not exist";
  }
}
