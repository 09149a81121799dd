// Which variables a line sets, and to what: the ground on which its words are understood.

import type { ShellCommand, ShellLine, ShellWord } from "../parse/shell.ts";
import { words } from "../programs/command-names.ts";
import { isOption } from "../programs/read-options.ts";
import type { VariableScope } from "./expand-words.ts";

/** Built-ins that put what they read or compute into the variables that they are given. */
const setters = words("read mapfile readarray getopts printf unset declare typeset local readonly export");
/** They leave alone what a variable holds that they only name. */
const keepers = words("declare typeset local readonly export");
/** After these any variable that the line does not set may hold anything. */
const openers = words("eval source . trap enable");
/** Another name for a variable, other letters than those that are given. */
const changesValues = /^-\w*[nlu]/;

const mostLookUps = 2000;

/** The scope of a line: its own variables, and those of the line that it stands in. */
export function scopeOf(line: ShellLine, outer: VariableScope | undefined): VariableScope {
  const variables = new Map<string, readonly ShellWord[] | "unknown">(outer?.variables);
  for (const [name, values] of line.variables) {
    const before = variables.get(name) ?? [];
    variables.set(name, values === "unknown" || before === "unknown" ? "unknown" : [...before, ...values]);
  }
  let isOpen = outer?.isOpen === true;
  let isNested = outer !== undefined || line.functions.length > 0;
  for (const command of line.commands) {
    const { base, args } = builtinOf(command);
    if (openers.has(base)) isOpen = true;
    if (base === "set") isNested = true;
    if (base === "eval" || base === "trap") for (const arg of args) setByCode(arg, variables);
    const isFollowed = !args.some((arg) => changesValues.test(arg.value));
    const isOnlyNamed = (arg: ShellWord) => isFollowed && keepers.has(base) && /^\w+$/.test(arg.value);
    if (setters.has(base)) for (const arg of args) if (!isOnlyNamed(arg)) setByWord(arg, variables, isFollowed);
  }
  return { variables, isNested, isOpen, budget: outer?.budget ?? { left: mostLookUps }, open: new Set() };
}

/** `builtin -- read x` is `read x`; what is not known in advance may be `eval`. */
function builtinOf({ name, args }: ShellCommand): { base: string; args: readonly ShellWord[] } {
  if (name?.dynamic) return { base: "eval", args };
  if (name?.value !== "command" && name?.value !== "builtin") return { base: name?.value ?? "", args };
  const at = args.findIndex((arg) => !isOption(arg));
  return { base: args[at]?.value ?? "", args: args.slice(at + 1) };
}

type VariableValues = Map<string, readonly ShellWord[] | "unknown">;

function setByWord(word: ShellWord, variables: VariableValues, isFollowed: boolean): void {
  const name = /^[A-Za-z_]\w*/.exec(word.value)?.[0];
  // `export x=1` was noted as an assignment; what only looks like one is not followed.
  const isNoted = name !== undefined && variables.has(name) && word.text.startsWith(`${name}=`);
  if (name && !(isNoted && isFollowed)) variables.set(name, "unknown");
}

/** What a script names without asking for what it holds. */
function setByCode({ value }: ShellWord, variables: VariableValues): void {
  for (const [name] of value.matchAll(/(?<![\w$])(?<!\$\{)[A-Za-z_]\w*/g)) variables.set(name, "unknown");
}
