// Checks whether allow rules cover a program start. Anything that cannot be resolved is not covered.
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import type { ShellSituation } from "./files/shell-paths.ts";
import { isInside, realOrSame } from "./paths.ts";
import { dangerousArguments, hasDangerousOptions, namesOption } from "./programs/dangerous-options.ts";
import { controlFlow, stateChangers } from "./programs/shell-builtins.ts";
import { allowsCommand, programIn } from "./rules.ts";
import { showText } from "./show.ts";
import { mayBeOption, unsetReading } from "./starts/expand-words.ts";
import { baseName, isInterpreter, isShell, type ProgramStart } from "./starts/wrappers.ts";

/** Returns why a program start is not covered by allow rules, or undefined if it is covered. */
export function uncoveredRun(
  run: ProgramStart,
  allowing: readonly Rule[],
  situation: ShellSituation,
): string | undefined {
  const { name, args } = run;
  if (name.dynamic || name.glob || run.inOption || run.ifUnset) return undefined;
  if (!run.certain) return `An option before ${showText(name.text)} is unknown.`;
  const bare = programName(name.value, situation);
  if (bare === undefined && !name.value.includes("/"))
    return `${showText(name.value)} is a file of the workspace that this run changed.`;
  if (bare === undefined) return `${showText(name.value)} is a path, and rules name programs.`;
  if (controlFlow.has(bare)) return undefined;
  if (stateChangers.has(bare)) return `${bare} changes the shell itself.`;
  const rules = coveringRules(run, bare, allowing);
  if (rules.length === 0 && !run.transparent)
    return `No allow rule covers ${showText([bare, ...args.map((arg) => arg.text)].join(" "))}.`;
  const unset = unsetReading(args);
  const danger = [...dangerousArguments(run), ...(unset ? dangerousArguments({ name, args: unset }) : [])].find(
    (found) => !rules.some((rule) => namesOption(rule.pattern, found)),
  );
  if (danger) return `${bare} ${showText(danger.text)} can run or write more than the rule says.`;
  const unknown =
    hasDangerousOptions(bare) || isShell(bare) || isInterpreter(bare) ? args.find(mayBeOption) : undefined;
  return unknown ? `What ${bare} is given by ${showText(unknown.text)} is not known in advance.` : undefined;
}

function coveringRules({ args }: ProgramStart, bare: string, allowing: readonly Rule[]): Rule[] {
  const words = args.map((arg) => arg.value);
  // `[` and `test` are two names of the same built-in, as are `:` and `true`.
  const names = bare === "[" ? ["[", "test"] : bare === ":" ? [":", "true"] : [bare];
  const { named, open } = indexOf(allowing);
  return names.flatMap((name) =>
    [...(named.get(name) ?? []), ...open].filter((rule) => allowsCommand(rule, { name, args: words })),
  );
}

type RuleIndex = { named: Map<string, Rule[]>; open: Rule[] };
const indexes = new WeakMap<readonly Rule[], RuleIndex>();

/** Indexes rules by the program they name, for lists of hundreds. `open` holds the rules that may match any program. */
function indexOf(allowing: readonly Rule[]): RuleIndex {
  const existing = indexes.get(allowing);
  if (existing) return existing;
  const index: RuleIndex = { named: new Map(), open: [] };
  for (const rule of allowing) {
    const name = programIn(rule);
    if (name === undefined) index.open.push(rule);
    else index.named.set(name, [...(index.named.get(name) ?? []), rule]);
  }
  indexes.set(allowing, index);
  return index;
}

/** Returns whether a rule names the inner command as well, as `Shell(npx vitest)` does; such a rule covers its start. */
export function isNamedByWrapper(
  run: ProgramStart,
  wrapper: ProgramStart,
  allowing: readonly Rule[],
  situation: ShellSituation,
): boolean {
  const at = wrapper.args.indexOf(run.name);
  const bare = programName(wrapper.name.value, situation);
  if (at === -1 || bare === undefined || !run.certain) return false;
  return coveringRules(wrapper, bare, allowing).some(({ pattern }) => {
    const tokens = pattern.replace(/:\*+$/, "").split(/\s+/);
    return tokens.length - 2 >= at && !/[*?]/.test(tokens.slice(0, at + 2).join(""));
  });
}

/** Returns a bare name, also for a path that the name resolves to; a file in the workspace is not the program the user allowed. */
export function programName(name: string, situation: ShellSituation): string | undefined {
  const { workspace, searchPath = "" } = situation;
  if (!name.includes("/")) return workspaceProgram(name, situation) === "changed" ? undefined : name;
  if (!isAbsolute(name) || isInside(realOrSame(name), workspace) || isInside(name, workspace)) return undefined;
  const base = baseName(name);
  const meant = programAt(base, searchPath);
  // `/bin/ls` and `/usr/bin/ls` are the same file if one of the folders is a link to the other.
  return meant !== undefined && realOrSame(meant) === realOrSame(name) ? base : undefined;
}

/** Returns whether the program is in a PATH folder inside the workspace, and if so, whether it changed since the run started. */
export function workspaceProgram(
  name: string,
  { workspace, searchPath = "", startedAt = 0 }: ShellSituation,
): "changed" | "there" | undefined {
  for (const folder of searchPath === "" ? [] : searchPath.split(":")) {
    const path = join(isAbsolute(folder) ? folder : join(workspace, folder), name);
    if (!isInside(path, workspace) && !isInside(realOrSame(path), workspace)) continue;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) return Math.max(stat.mtimeMs, stat.ctimeMs) >= startedAt ? "changed" : "there";
  }
  return undefined;
}

/** Finds the file that the shell would run for a bare name. */
function programAt(base: string, searchPath: string): string | undefined {
  for (const folder of searchPath.split(":")) {
    if (!isAbsolute(folder)) continue;
    try {
      accessSync(join(folder, base), constants.X_OK);
      return join(folder, base);
    } catch {}
  }
  return undefined;
}
