// How children are spawned: in a session of their own, and with an error that tells what is missing.

import type { ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { spawnWords } from "./windows-command.ts";

export type SpawnRequest = {
  command: readonly string[];
  cwd: string;
  env: Record<string, string | undefined>;
  stdin: "empty" | "pipe";
  /** Stays in our own session: for programs that neither ask nor fork, which the scheduler then treats as our own work. */
  plain?: boolean;
};

export function spawnInOwnSession({ command, cwd, env, stdin, plain = false }: SpawnRequest): ChildProcess {
  const { spawn } = process.getBuiltinModule("node:child_process"); // loaded when the first child is started
  const { program, args, verbatim } = spawnWords(command[0]!, command.slice(1), shellOf(env));
  return spawn(program, [...args], {
    cwd,
    env,
    // No controlling terminal to ask for passwords on, and one group to signal.
    detached: !plain && process.platform !== "win32",
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
    stdio: [stdin === "empty" ? "ignore" : "pipe", "pipe", "pipe"],
  });
}

function shellOf(env: SpawnRequest["env"]): { shell?: string } {
  const shell = env["ComSpec"] ?? env["COMSPEC"];
  return shell === undefined ? {} : { shell };
}

/** The system says ENOENT for a missing folder as for a missing program. Undefined: it is something else. */
export function spawnProblem(
  error: unknown,
  program: string,
  cwd: string,
): { code: "CWD_MISSING" | "CLI_NOT_FOUND"; message: string } | undefined {
  const why = folderProblem(cwd);
  if (why !== undefined) return { code: "CWD_MISSING", message: `The working directory ${cwd} ${why}.` };
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return { code: "CLI_NOT_FOUND", message: `${program} was not found. Is it installed and in PATH?` };
    case "EACCES":
      return { code: "CLI_NOT_FOUND", message: `${program} is not executable.` };
  }
  return undefined;
}

function folderProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return "is not a directory";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "may not be entered" : "does not exist";
  }
}
