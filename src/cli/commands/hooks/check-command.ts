// Checks whether a hook's command can be run at all. Looks at files and starts nothing.

import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { findProgram, isProgram } from "../../../process/find-program.ts";
import { programName } from "../../../text/program-name.ts";
import type { HooksContext } from "./context.ts";
import { findLauncher } from "./init.ts";

type CommandProblem = { message: string; advice: string };

const shellBuiltins = new Set(
  ": . [ alias break case cd command continue echo eval exec exit export false for if printf read return set shift test trap true type ulimit umask unset until while { (".split(
    " ",
  ),
);
const interpreters = /^(ba|da|z|k)?sh$|^(node|python3?|ruby|perl|bun|deno|php)$/;

export function commandProblems(
  { command, cwd }: { command: string; cwd: string },
  context: HooksContext,
): CommandProblem[] {
  const words = firstWords(command, context);
  const [program, operand] = words;
  // Words that only a shell can expand are left to `hooks test`.
  if (program === undefined || /[$`*?]/.test(program) || shellBuiltins.has(program)) return [];
  if (!program.includes("/")) {
    if (!findProgram(program, context.env))
      return commandProblem(`${program} is not in PATH.`, "Install it, or write the whole path.");
    const isScript = operand !== undefined && interpreters.test(program) && /^[^-$`][^$`]*\.\w+$/.test(operand);
    if (isScript && !existsSync(resolve(cwd, operand)))
      return commandProblem(`${operand}, which ${program} should run, does not exist in ${cwd}.`, "Correct the path.");
    return [];
  }
  const file = isAbsolute(program) ? program : resolve(cwd, program);
  return fileProblems(file, program, context);
}

function commandProblem(message: string, advice: string): CommandProblem[] {
  return [{ message, advice }];
}

function fileProblems(file: string, displayPath: string, context: HooksContext): CommandProblem[] {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat)
    return commandProblem(
      `${displayPath} does not exist.`,
      `Correct the path, or remove the entry: ${programName()} hooks uninstall`,
    );
  if (!stat.isFile()) return commandProblem(`${displayPath} is not a file.`, "Correct the path.");
  if (!isProgram(file)) return commandProblem(`${displayPath} is not executable.`, `Type: chmod +x ${displayPath}`);
  return shebangProblems(file, displayPath, context);
}

/** Binaries have no shebang. A script without one is run by the shell, which most are not meant for. */
function shebangProblems(file: string, displayPath: string, context: HooksContext): CommandProblem[] {
  const head = firstBytes(file);
  if (/^(\x7fELF|MZ|[\xcf\xce\xca\xfe])/.test(head)) return [];
  const [first = "", second = ""] = head.split("\n");
  if (!first.startsWith("#!")) {
    if (!/\.(ts|js|mjs|cjs|py|rb)$/.test(file)) return [];
    return commandProblem(`${displayPath} has no #! line.`, "Start it with #!/usr/bin/env and the program's name.");
  }
  if (first.endsWith("\r")) {
    const message = `${displayPath} has Windows line endings, and so does the program name in its first line.`;
    return commandProblem(message, "Save it with Unix line endings.");
  }
  const [program = "", ...rest] = first.slice(2).trim().split(/\s+/);
  if (!isProgram(program))
    return commandProblem(`${program}, which should run ${displayPath}, does not exist.`, "Fix its first line.");
  const asked = rest.filter((word) => !word.startsWith("-"));
  if (/\/env$/.test(program) && asked[0] !== undefined && !findProgram(asked[0], context.env))
    return commandProblem(`${asked[0]}, which should run ${displayPath}, is not in PATH.`, adviceOn(asked[0]));
  if (second.includes("courser-hook") && !findLauncher(file, context))
    return commandProblem(`courser-hook, which should run ${displayPath}, was not found.`, adviceOn("courser-hook"));
  return [];
}

function adviceOn(program: string): string {
  return program === "courser-hook"
    ? `Type: ${programName()} install`
    : `Install ${program}, or correct the first line.`;
}

function firstBytes(file: string): string {
  const bytes = Buffer.alloc(2000);
  const handle = openSync(file, "r");
  try {
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0)).toString("latin1");
  } finally {
    closeSync(handle);
  }
}

/** Returns the program and its arguments, unquoted, with the variables that hosts set expanded. */
function firstWords(command: string, { workspace, home }: HooksContext): string[] {
  const variables: Record<string, string> = {
    CLAUDE_PROJECT_DIR: workspace,
    CURSOR_PROJECT_DIR: workspace,
    HOME: home,
  };
  const filled = command
    .replace(/"\$\(git rev-parse --show-toplevel[^)]*\)"/g, workspace)
    .replace(/\$\{?(\w+)\}?/g, (whole, name: string) => variables[name] ?? whole)
    .replace(/^~(?=\/)/, home);
  const words = [...filled.matchAll(/(?:[^\s"';&|<>()]|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/["']/g, ""));
  return words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
}
