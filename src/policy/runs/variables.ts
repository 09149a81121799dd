// Which variables a line sets, and to what: the ground on which its words are understood.

import type { ShellLine, ShellWord } from "../parse/shell.ts";
import { words } from "../programs/command-names.ts";
import type { Scope } from "./meaning.ts";

/** Built-ins that put what they read or compute into the variables that they are given. */
const setters = words("read mapfile readarray getopts printf wait unset let declare typeset local readonly export");
/** After these any variable may hold anything. */
const openers = words("eval source . trap enable");

const mostLookUps = 2000;

/** The scope of a line: its own variables, and those of the line that it stands in. */
export function scopeOf(line: ShellLine, outer: Scope | undefined): Scope {
  const variables = new Map<string, readonly ShellWord[] | "unknown">(outer?.variables);
  for (const [name, values] of line.variables) {
    const before = variables.get(name) ?? [];
    variables.set(name, values === "unknown" || before === "unknown" ? "unknown" : [...before, ...values]);
  }
  let isOpen = outer?.isOpen === true;
  let isNested = outer !== undefined || line.functions.length > 0;
  for (const { name, args } of line.commands) {
    if (!name) continue;
    const base = name.dynamic
      ? "eval"
      : name.value === "command" || name.value === "builtin"
        ? (args[0]?.value ?? "")
        : name.value;
    if (openers.has(base)) isOpen = true;
    if (base === "set" || base === "shift") isNested = true;
    if (setters.has(base)) for (const arg of args) setByWord(arg, variables);
  }
  return { variables, isNested, isOpen, budget: outer?.budget ?? { left: mostLookUps } };
}

function setByWord(word: ShellWord, variables: Map<string, readonly ShellWord[] | "unknown">): void {
  const name = /^[A-Za-z_]\w*/.exec(word.value)?.[0];
  // `export x=1` was noted as an assignment; what only looks like one is not followed.
  if (name && !(variables.has(name) && word.text.startsWith(`${name}=`))) variables.set(name, "unknown");
}
