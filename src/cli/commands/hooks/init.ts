// `hooks init`: writes an executable starter script that works with every host, and finds the launcher that runs it.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { findProgram } from "../../../process/find-program.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { type HooksContext, hooksContext, onlyWord, shownFile } from "./context.ts";
import { isFile, scriptFolder } from "./script.ts";

export async function initHook(invocation: Invocation, words: readonly string[]): Promise<number> {
  const word = onlyWord(words, "init") ?? "format";
  const context = hooksContext(invocation);
  const name = word.replace(/\.ts$/, "");
  if (!/^[\w][\w.-]{0,63}$/.test(name)) {
    throw usageError(
      `'${word}' is not a valid script name: letters, digits, dots and dashes. It is written to ${scriptFolder}.`,
    );
  }
  const folder = join(context.workspace, scriptFolder);
  const file = join(folder, `${name}.ts`);
  if (isFile(file) && !invocation.line.flags.has("force")) {
    throw new UserError(
      "INSTALL_REFUSED",
      `${shownFile(file, context)} already exists and was not changed. To overwrite it: ${invocation.name} hooks init ${name} --force`,
    );
  }
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, scriptText, { mode: 0o777 });
    chmodSync(file, 0o755);
  } catch (error) {
    throw new UserError("STORE_FAILED", `${file} could not be written: ${(error as Error).message}.`);
  }
  const displayPath = shownFile(file, context);
  const next = `${invocation.name} hooks install ${displayPath}`;
  const found = findLauncher(file, context) !== undefined;
  if (wantsJson(invocation)) return answerJson({ file, next, launcherFound: found });
  const advice = found ? "" : `Note: courser-hook, which runs it, was not found. Type: ${invocation.name} install\n`;
  return answer(`✓ ${displayPath}\nRead it, edit it, then install it: ${next}\n${advice}`);
}

/** Folders to search besides PATH, in shell syntax: editors start hooks with a short PATH. */
const furtherFolders = ["$HOME/.local/bin", "/opt/homebrew/bin", "/usr/local/bin", "${0%/*}/../node_modules/.bin"];

/** Finds the launcher the same way as the second line of a script. */
export function findLauncher(script: string, { env, home }: Pick<HooksContext, "env" | "home">): string | undefined {
  const filled = furtherFolders.map((folder) => folder.replace("$HOME", home).replace("${0%/*}", dirname(script)));
  return findProgram("courser-hook", { PATH: [env["PATH"] ?? "", ...filled].join(delimiter) });
}

/**
 * The second line is a comment to TypeScript and a program to the shell. With `#!/usr/bin/env courser-hook` alone, a PATH
 * without it would give exit code 127, which every host takes for a hook without objection.
 */
const scriptText = String.raw`#!/bin/sh
//usr/bin/env true; PATH="$PATH:${furtherFolders.join(":")}"; command -v courser-hook >/dev/null && exec courser-hook "$0" "$@"; echo "$0: courser-hook is not in PATH. Type: courser install" >&2; exit 2

// One script for Cursor, Courser, Claude Code, Codex and Gemini CLI. The lines above start it; below is yours.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineHook, run } from "courser-agent/hooks";

const hooks = defineHook({
  // Before a tool is used. Return nothing to have no opinion.
  PreToolUse(event) {
    if (event.tool === "Bash" && removesRecursively(event.input.command))
      return { decision: "deny", reason: "rm -rf is blocked: delete files one by one, or ask the user to do it" };
  },

  // After it: format what was written, if the project has a formatter.
  PostToolUse(event) {
    if (event.tool !== "Edit" && event.tool !== "Write") return;
    const formatter = join(event.cwd ?? ".", "node_modules/.bin/prettier");
    if (!existsSync(formatter) || event.paths.length === 0) return;
    try {
      execFileSync(formatter, ["--write", "--ignore-unknown", ...event.paths], { timeout: 20_000, stdio: "pipe" });
    } catch (error) {
      return { additional_context: "prettier failed on what you wrote: " + error };
    }
  },
});

/** rm with -r and -f, in any order, anywhere in a command line. */
function removesRecursively(command: string): boolean {
  return command.split(/[;&|\n()]+/).some((part) => {
    const words = part.replace(/["'\\]/g, "").trim().split(/\s+/);
    const at = words.findIndex((word) => /^(.*\/)?rm$/.test(word));
    const flags = words.slice(at + 1).filter((word) => word.startsWith("-"));
    const has = (letter: RegExp, long: string) => flags.some((flag) => flag === long || (/^-\w/.test(flag) && letter.test(flag)));
    return at >= 0 && has(/[rR]/, "--recursive") && has(/f/, "--force");
  });
}

await run(hooks);
`;
