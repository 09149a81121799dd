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
  /** Two more descriptors, 3 to be read and 4 to be written by the program. Such a one ends when they break. */
  channel?: boolean;
  /** Ends with this process, however that ends: its whole group is killed when the pipe that we hold breaks. */
  bound?: boolean;
};

/** Waits beside the program for the end of descriptor 3, holding none of its streams. */
const boundToPipe = '(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec 3<&-; exec "$@"';

export function spawnInOwnSession({
  command,
  cwd,
  env,
  stdin,
  plain = false,
  channel,
  bound,
}: SpawnRequest): ChildProcess {
  const { spawn } = process.getBuiltinModule("node:child_process"); // loaded when the first child is started
  const isBound = bound === true && process.platform !== "win32";
  const more: "pipe"[] = channel ? ["pipe", "pipe"] : isBound ? ["pipe"] : [];
  const [first, ...rest] = isBound ? ["/bin/sh", "-c", boundToPipe, "bound", ...command] : command;
  const { program, args, verbatim } = spawnWords(first!, rest, shellOf(env));
  return spawn(program, [...args], {
    cwd,
    env,
    // No controlling terminal to ask for passwords on, and one group to signal.
    detached: !plain && process.platform !== "win32",
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
    stdio: [stdin === "empty" ? "ignore" : "pipe", "pipe", "pipe", ...more],
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
