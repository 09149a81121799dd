// Spawns child processes, and explains why one could not be spawned.

import type { ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { spawnWords } from "./windows-command.ts";

type SpawnRequest = {
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** "inherit" shares this process's streams. Otherwise output is piped, and input is piped or absent. */
  streams: "pipe" | "noInput" | "inherit";
  /** Opens two more descriptors: the program reads 3 and writes 4. */
  channel: boolean;
  /** Whether the child stays in this process's session. */
  plain?: boolean;
  /** A file descriptor of this process that the child receives as descriptor 3. */
  inherited?: number;
};

export function spawnChild({ command, cwd, env, streams, channel, plain, inherited }: SpawnRequest): ChildProcess {
  // the module is loaded when the first child is started
  const { spawn } = process.getBuiltinModule("node:child_process");
  const more: ("pipe" | number)[] = channel ? ["pipe", "pipe"] : inherited === undefined ? [] : [inherited];
  const [first, ...rest] = command;
  const { program, args, verbatim } = spawnWords(first!, rest, { shell: env["ComSpec"] ?? env["COMSPEC"] });
  return spawn(program, [...args], {
    cwd,
    env,
    // A separate session: the child has no terminal to ask for passwords, and its group can be signalled as a whole.
    detached: !plain && process.platform !== "win32",
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
    stdio: streams === "inherit" ? streams : [streams === "pipe" ? "pipe" : "ignore", "pipe", "pipe", ...more],
  });
}

/** Why a process could not be started; `code` says what is missing, if known. */
export type StartFailure = { code?: "CWD_MISSING" | "CLI_NOT_FOUND"; message: string; cause: unknown };

export function startFailure(cause: unknown, program: string, cwd: string): StartFailure {
  // ENOENT can mean a missing working directory as well as a missing program.
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
