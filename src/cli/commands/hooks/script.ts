// Resolves the script that a command names, and recognises the entries in a host's file that install wrote.

import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { InstallHost } from "../../../bridge/install/hosts.ts";
import type { ConfiguredHook } from "../../../bridge/install/plan.ts";
import { isProgram } from "../../../process/find-program.ts";
import { usageError } from "../../../protocol/error-codes.ts";
import { programName } from "../../../text/program-name.ts";
import { tryOr } from "../../../text/try-or.ts";
import type { Invocation } from "../../main.ts";
import { type HooksContext, shownFile } from "./context.ts";

export const scriptFolder = ".hooks";

/**
 * Returns a path relative to the project root if the script is inside it, otherwise an absolute one. `isGlobal` makes it
 * absolute in any case.
 */
export function scriptWanted(
  invocation: Invocation,
  context: HooksContext,
  { word, isGlobal }: { word: string | undefined; isGlobal: boolean },
): string {
  const path = word === undefined ? onlyScript(invocation, context) : givenScript(word, context);
  if (!isProgram(path)) {
    throw usageError(
      `${shownFile(path, context)} is not executable, so no host can run it. Type: chmod +x ${shownFile(path, context)}`,
    );
  }
  return isGlobal ? path : fromRoot(path, context);
}

export function fromRoot(path: string, { workspace }: HooksContext): string {
  const inside = relative(workspace, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside.split(sep).join("/");
}

function givenScript(word: string, context: HooksContext): string {
  const found = scriptPaths(word, context).find(isFile);
  if (found !== undefined) return realpathSync(found);
  throw usageError(`Script not found: ${word}. To write one: ${programName()} hooks init`);
}

/** Returns the paths at which a hook script of this name may be, the nearest first. */
export function scriptPaths(word: string, { workspace }: HooksContext): string[] {
  const folder = resolve(workspace, scriptFolder);
  return [resolve(word), resolve(workspace, word), resolve(folder, word), resolve(folder, `${word}.ts`)];
}

function onlyScript({ name }: Invocation, { workspace }: HooksContext): string {
  const folder = join(workspace, scriptFolder);
  const scripts = tryOr(() => readdirSync(folder).sort(), []).filter((each) => isProgram(join(folder, each)));
  if (scripts.length === 1) return join(folder, scripts[0]!);
  throw usageError(
    scripts.length === 0
      ? `No executable script in ${scriptFolder}. Name one, or write one first: ${name} hooks init`
      : `Which script? There are ${scripts.join(", ")}. Type: ${name} hooks install ${scriptFolder}/${scripts[0]}`,
  );
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** `'./a b.ts' --host cursor` -> the file that it runs. Undefined if install did not write the command. */
export function scriptOf(
  command: string,
  host: InstallHost,
  { workspace }: Pick<HooksContext, "workspace">,
): string | undefined {
  const end = ` --host ${host.name}`;
  if (!command.endsWith(end)) return undefined;
  const path = command.slice(0, -end.length);
  const rest = path.startsWith(`${host.root}/`) ? path.slice(host.root.length + 1) : path;
  const word = /^'.*'$/s.test(rest) ? rest.slice(1, -1).replaceAll(String.raw`'\''`, "'") : rest;
  if (rest === path && !isAbsolute(word)) return undefined;
  if (!/^'.*'$/s.test(rest) && !/^[\w@%+=:,./-]+$/.test(rest)) return undefined;
  return resolve(workspace, word);
}

/** Whether install wrote the entry: its script mentions courser or no longer exists. Other entries must be removed by name. */
export function isInstalledByUs({ command }: ConfiguredHook, host: InstallHost, context: HooksContext): boolean {
  const file = scriptOf(command, host, context);
  return file !== undefined && (!isFile(file) || /\bcourser\b/.test(readFileSync(file, "utf8").slice(0, 100_000)));
}
