// Follows commands that run other commands: finds every program that `env`, `sudo`, `xargs`, `find -exec` or `bash -c` would start.
import { readsAlike } from "../parse/portable-script.ts";
import { parseShell, type ShellCommand, type ShellLine, type ShellWord } from "../parse/shell.ts";
import { literalWord } from "../parse/shell-word.ts";
import { renamingLists, variableCode } from "../programs/code-variables.ts";
import { baseName, isInterpreter, isShell, moduleOf, own, words } from "../programs/command-names.ts";
import { dangerousArguments } from "../programs/dangerous-options.ts";
import { commandsInOptions, inlineCode, mayStartPrograms } from "../programs/executing-options.ts";
import { databaseShells, otherLanguages } from "../programs/program-kinds.ts";
import { isOption, parseOptions } from "../programs/read-options.ts";
import { scriptsOf } from "../programs/script-files.ts";
import { computedWords, hidesCode, isMade, renamers } from "../programs/shell-builtins.ts";
import {
  dashed,
  isJoined,
  isPackageRunner,
  loaderName,
  runnerOptions,
  subcommandOf,
  type WrapperSyntax,
  withoutVersion,
  wrapperName,
  wrappers,
} from "../programs/wrapper-table.ts";
import { showText } from "../show.ts";
import { expandWord, isNumeric, readingsOf, scopeOf, unsetReading, type VariableScope } from "./expand-words.ts";
import { followDatabase, followFile, followInput, noteCode, noteLoads } from "./inline-code.ts";
import { withFound, withInput } from "./piped-arguments.ts";
import { noteMisread, nothingStarted, type ProgramStart, type StartedPrograms, tooMuch } from "./started-programs.ts";

export { baseName, isInterpreter, isShell } from "../programs/command-names.ts";
export type { ProgramStart, StartedPrograms } from "./started-programs.ts";

const exporters = words("export declare typeset readonly");
const deepest = 12;
/** Limits for following programs. When one is reached, the line counts as not fully analysed. */
const maxRuns = 2000;
const maxGuesses = 60;

export function startedPrograms(command: string): StartedPrograms {
  const found = nothingStarted();
  descend(command, { depth: 0, found });
  return found;
}

function descend(
  source: string,
  { depth, found, scope }: { depth: number; found: StartedPrograms; scope?: VariableScope },
): void {
  if (depth > deepest || found.runs.length > maxRuns) {
    tooMuch("it is nested too deeply", found);
    return;
  }
  const line = parseShell(source);
  const inner = scopeOf(line, scope);
  found.lines.push(line);
  found.sources.push(source);
  found.scopes.push(inner);
  for (const command of line.commands) {
    const trail = { command, depth, certain: true, found, scope: inner, source };
    for (const { name, value } of command.assignments) {
      if (value && !(value.dynamic && !command.name)) followVariable(name, value.value, trail);
      if (renamingLists.test(name)) found.opaque.push(`${name} redefines a name`);
    }
    if (!command.name) continue;
    const args = command.args.map((arg) => expandWord(arg, inner));
    if (exporters.has(command.name.value))
      for (const { value } of args) {
        const [, name, text] = /^(\w+)=(.*)$/s.exec(value) ?? [];
        if (name) followVariable(name, text!, trail);
      }
    follow(command.name, args, trail);
    const readings = readingsOf(command.args, args);
    if (!readings) found.opaque.push("its words may have too many values");
    for (const reading of readings ?? []) follow(command.name, reading, trail);
    const unset = unsetReading(args);
    if (unset) follow(command.name, unset, { ...trail, depth: depth + 1, certain: false, ifUnset: true });
  }
}

/** Analyses a variable whose value becomes code, for the shell itself or for a program that it starts. */
function followVariable(name: string, value: string, trail: Trail): void {
  const { found } = trail;
  const { commands, options, code, loads, isOpaque } = variableCode(name, value);
  for (const text of commands) guessScript(text, trail);
  if (options) {
    const inside = { ...trail, depth: trail.depth + 1, certain: false, inOption: true } as const;
    const literalCommand = { name: literalWord(options.program), args: options.words.map(literalWord) };
    follow(literalCommand.name, literalCommand.args, inside);
    if (dangerousArguments(literalCommand).length > 0)
      found.opaque.push(`${name} gives ${options.program} ${showText(value)}`);
  }
  if (code) found.code.push({ text: code, by: name });
  if (isOpaque || (code && mayStartPrograms(code)))
    found.opaque.push(`${name}=${showText(value)} decides what a program loads or runs`);
  noteLoads(name, loads, found);
}

/** Where the analysis is, and in `found` everything that it has found so far. `certain` is false for guesses. */
type Trail = {
  command: ShellCommand;
  depth: number;
  certain: boolean;
  inOption?: true;
  ifUnset?: true;
  found: StartedPrograms;
  scope: VariableScope;
  source: string;
};

function follow(name: ShellWord, args: ShellWord[], trail: Trail): void {
  const { found, command, depth, certain } = trail;
  const base = wrapperName(name.value);
  const table = loaderName.test(base) ? {} : own(wrappers, base);
  const { inOption, ifUnset } = trail;
  const kind = { ...(inOption && { inOption }), ...(ifUnset && { ifUnset }) };
  const run: ProgramStart = { name, args, transparent: table?.transparent === true, certain, ...kind, command, depth };
  found.runs.push(run);
  if (found.runs.length > maxRuns) tooMuch("it starts too many programs", found);
  if (found.runs.length > maxRuns || name.dynamic || name.glob) return;
  if (name.value.includes("/")) found.files.push({ word: name, by: name.value });
  // A program that gets a word with spaces as its command may run it as a shell line.
  if (depth > 0 && /[ \t\n]/.test(name.value)) guessScript(name.value, trail);
  for (const word of scriptsOf(run)) found.files.push({ word, by: base, isUsual: true });
  if (isShell(base)) followShell(base, args, trail);
  else if (base === "eval") script(args[0]?.value === "--" ? args.slice(1) : args, trail, "eval");
  else if (base === "trap") followTrap(args, trail);
  else if (renamers.has(base)) followRenaming(base, args, trail);
  else if (base === "source" || base === ".") followFile(args[0], base, trail);
  else if (/^(g?find|fd|fdfind|bfs)$/.test(base)) followFind(args, trail);
  else if (subcommandOf(base, args) !== -1) followRunner(base, args, trail);
  else if (databaseShells.has(base)) followDatabase(base, name, trail);
  else if (isInterpreter(baseName(name.value))) followInterpreter(baseName(name.value), args, trail);
  else if (table) followWrapper(base, table, args, trail);
  followOptions(run, trail);
}

/** Analyses the commands in `trap -- 'commands' SIGNAL`. */
function followTrap(args: readonly ShellWord[], trail: Trail): void {
  const commands = args.find((arg, at) => !isOption(arg) && (at === 0 || args[at - 1]!.value === "--"));
  if (commands) script([commands], trail, "trap");
}

function followRenaming(base: string, args: readonly ShellWord[], trail: Trail): void {
  if (!args.some((arg) => arg.value.includes("=") || /^-[a-z]*[pf]/.test(arg.value))) return;
  trail.found.opaque.push(`${base} redefines a name`);
  for (const arg of args) guessScript(arg.value.replace(/^[^=]*=/s, ""), trail);
}

/** Analyses options that name a program, and programs with a language of their own. */
function followOptions(run: ProgramStart, trail: Trail): void {
  const { found } = trail;
  const base = baseName(run.name.value);
  const { texts, isCut } = commandsInOptions(run);
  for (const text of texts) guessScript(text, trail);
  if (isCut) {
    tooMuch("it contains too many commands inside options", found);
    found.unreadable.push(run.args.map((arg) => arg.value).join(" "));
  }
  // What an interpreter reads from standard input is handled by `followInput`.
  const dangers = dangerousArguments(run).filter(({ text }) => text !== "-" || !isInterpreter(base));
  const code = inlineCode(run);
  noteCode(run, code, trail);
  if (code.some((each) => each.dynamic)) found.opaque.push(`${base} runs code that is not known in advance`);
  else if (code.some((each) => mayStartPrograms(each.value)))
    found.opaque.push(`${base} is given code that may start programs`);
  else if (dangers.length > 0 && (otherLanguages.has(base) || (isInterpreter(base) && code.length === 0)))
    found.opaque.push(`${base} ${showText(dangers[0]!.text)} may start programs`);
  if (dangers.some(({ at, name }) => name === "--config-env" || isMade(run.args[at]) || isMade(run.args[at + 1])))
    found.opaque.push(`what ${base} runs is not known in advance`);
  if (hidesCode(run) || computedWords(run).some((word) => !isNumeric(word, trail.scope)))
    found.opaque.push(`${base} evaluates text that contains a command`);
}

function followWrapper(base: string, table: WrapperSyntax, args: ShellWord[], trail: Trail): void {
  const { found } = trail;
  if (table.privileged) found.privileged.push(base);
  if (base === "command" && args.find((arg) => !/^-p+$/.test(arg.value))?.value.match(/^-[pvV]*[vV]/)) return;
  if (base === "jobs" && !args.some((arg) => arg.value === "-x")) return;
  if (base === "parallel") found.opaque.push("what parallel reads decides what it runs");
  if (base === "at" || base === "batch") {
    found.opaque.push(`${base} runs what it is given later`);
    return;
  }
  const { operands: rest, values, replaced, ...options } = parseOptions(args, table);
  const isUnsure = options.isUnsure || table.mayHaveOperand === true;
  let operands = rest;
  if (table.assignments) operands = withoutAssignments(operands, base, trail);
  const isMissing =
    table.insteadOfOperands?.some((name) => values.has(name)) ||
    table.operand?.test(operands[0]?.value ?? "") === false;
  operands = operands.slice(isMissing ? 0 : table.operands);
  // Some programs also accept options after their operands.
  const late = operands[0] && isOption(operands[0]) ? parseOptions(operands, table) : undefined;
  for (const [name, value] of late?.values ?? []) values.set(name, value);
  operands = late?.operands ?? operands;
  for (const name of table.directory ?? []) if (values.has(name)) found.folders.push(values.get(name)!);
  const split = base === "env" ? (values.get("S") ?? values.get("split-string")) : undefined;
  if (split) {
    for (const { value } of replaced) guessScript(value, trail);
    // `env -S` has its own escapes and variables.
    if (/[\\$]/.test(split.value)) noteMisread(split.value, "env -S", found);
    script([split, ...operands], trail, "env -S");
    return;
  }
  // Not all programs use the last value of an option that is given twice.
  if (table.scripts) for (const { value } of replaced) guessScript(value, trail);
  const next = { ...trail, depth: trail.depth + 1 };
  const program = table.programs?.map((name) => values.get(name)).find(Boolean);
  if (program) follow(program, operands, next);
  const text = table.scripts?.map((name) => values.get(name)).find(Boolean);
  if (text) {
    script([text], trail, base);
    return;
  }
  if (program || operands.length === 0) return;
  if (table.joins === "each") {
    for (const operand of operands) script([operand], trail, base);
    return;
  }
  if (table.joins && isJoined(table, args)) {
    script(operands, trail, base);
    return;
  }
  if (base === "xargs") {
    const fed = withInput(operands, { args, values, command: next.command, scope: next.scope });
    found.opaque.push(...fed.opaque);
    operands = fed.words;
  }
  if (isPackageRunner(base)) operands = [withoutVersion(operands[0]!, base), ...operands.slice(1)];
  if (next.depth > deepest) tooMuch("it is nested too deeply", found);
  else if (isUnsure || late?.isUnsure) guessCommands(operands, next);
  else follow(operands[0]!, operands.slice(1), next);
}

/** Removes assignments from the operands, and analyses them, because variables decide what a program loads. */
function withoutAssignments(operands: readonly ShellWord[], by: string, trail: Trail): ShellWord[] {
  const { found } = trail;
  const first = operands.findIndex((word) => !/^[^=/$`{]+=/s.test(word.value));
  const count = first === -1 ? operands.length : first;
  for (const { text, value, dynamic } of operands.slice(0, count)) {
    const name = value.slice(0, value.indexOf("="));
    found.assigned.push({ text, name, isKnown: !dynamic, by });
    followVariable(name, value.slice(name.length + 1), trail);
  }
  return operands.slice(count);
}

/** Analyses each word as the possible start of a command, marked as uncertain: an unknown option hides where the command begins. */
function guessCommands(operands: readonly ShellWord[], trail: Trail): void {
  for (let at = 0; at < operands.length; at++) {
    if (trail.found.guesses++ > maxGuesses) {
      tooMuch("it contains too many unknown options", trail.found);
      return;
    }
    follow(operands[at]!, operands.slice(at + 1), { ...trail, certain: false });
  }
}

function followRunner(base: string, args: ShellWord[], trail: Trail): void {
  const at = args.findIndex((arg) => !isOption(arg));
  const found = subcommandOf(base, args);
  const isSure = found === at;
  const options = /^(rustup|nvm)$/.test(base) ? { ...runnerOptions, operands: 1 } : runnerOptions;
  // Skips to the program in `mise exec node@20 -- program`.
  const dashes = dashed.has(base) ? args.findIndex((arg) => arg.value === "--") : -1;
  const rest = args.slice(Math.max(found, dashes) + 1);
  followWrapper(base, options, rest, isSure ? trail : { ...trail, certain: false });
}

function followShell(base: string, args: ShellWord[], trail: Trail): void {
  const { found, command } = trail;
  let runsText = false;
  let index = 0;
  for (; index < args.length; index++) {
    const { value } = args[index]!;
    if (value === "--" || value === "-") {
      index++;
      break;
    }
    if (!/^[-+]./.test(value)) break;
    if (/^-[a-zA-Z]*c/.test(value)) runsText = true;
    if (/^--(rcfile|init-file)$/.test(value)) followFile(args[++index], base, trail);
    else if (/^[-+][a-zA-Z]*[oO]$/.test(value)) index++;
  }
  const operand = args[index];
  if (runsText) {
    if (operand) script([operand], trail, base);
    return;
  }
  if (operand && !args.some((arg) => /^-[a-zA-Z]*s/.test(arg.value) && !arg.value.startsWith("--"))) {
    followFile(operand, base, trail);
    return;
  }
  const texts = command.redirects.filter((redirect) => redirect.direction === "text");
  for (const { body } of texts) {
    if (body === undefined) found.opaque.push(`what ${base} is given to run is made by the line itself`);
    else descendIn(base, body, trail);
  }
  followInput(base, trail, texts.length > 0);
}

function followInterpreter(base: string, args: ShellWord[], trail: Trail): void {
  const { found, command } = trail;
  // In `python3 -m pytest`, the module is like a program of its own.
  const run = moduleOf(base, args);
  if (run) {
    follow(run.module, run.rest, { ...trail, depth: trail.depth + 1, inOption: true });
    return;
  }
  if (args.some((arg) => /^(-[a-zA-Z]*[ceEr]|--eval|--print|-p|eval)$/.test(arg.value))) return;
  const file = args.find((arg) => !isOption(arg));
  if (file && file.value !== "-") {
    followFile(file, base, trail);
    return;
  }
  const text = command.redirects.find((redirect) => redirect.direction === "text");
  if (text) found.inline.push(`${base} runs what the line gives it to read`);
  if (text && (text.body === undefined || otherLanguages.has(base) || mayStartPrograms(text.body)))
    found.opaque.push(`${base} is given code that may start programs`);
  else followInput(base, trail, text !== undefined);
}

function followFind(args: ShellWord[], trail: Trail): void {
  for (let at = 0; at < args.length; at++) {
    if (!/^(-exec|-execdir|-ok|-okdir|--exec|--exec-batch|-x|-X)$/.test(args[at]!.value)) continue;
    const from = at + 1;
    while (++at < args.length && args[at]!.value !== ";" && !(args[at]!.value === "+" && args[at - 1]!.value === "{}"));
    const [name, ...rest] = withFound(args.slice(from, at), args);
    if (name) follow(name, rest, { ...trail, depth: trail.depth + 1 });
  }
}

function script(words: readonly ShellWord[], trail: Trail, base: string): void {
  if (words.some((word) => word.dynamic || word.others))
    trail.found.opaque.push(`what ${base} runs is not known in advance`);
  descendIn(base, words.map((word) => word.value).join(" "), trail);
}

/** Analyses a script passed to a shell. The parser is one for bash; other shells may read the script differently. */
function descendIn(shell: string, source: string, trail: Trail): void {
  if (!readsAlike(source, shell)) noteMisread(source, shell, trail.found);
  descend(source, { ...trail, depth: trail.depth + 1 });
}

/** Analyses a text that may be a command: what it would start can only make the verdict stricter. */
function guessScript(text: string, trail: Trail): void {
  const { found } = trail;
  if (found.guesses++ > maxGuesses) {
    tooMuch("it contains too many commands inside options", found);
    return;
  }
  const inside = { ...trail, depth: trail.depth + 1, certain: false, inOption: true } as const;
  const line = parseShell(text);
  const scope = scopeOf(line, trail.scope);
  if (line.errors.length > 0 || !readsAlike(text, "sh")) noteMisread(text, "sh", found);
  if (line.evaluates.length > 0 || line.computed.some((word) => !isNumeric(word, scope)))
    found.opaque.push(`${showText(text)} evaluates data as code`);
  followCommands(line, scope, inside);
}

type Inside = Omit<Trail, "command" | "scope">;

/** Analyses the commands of an inner line, which can only make the verdict on the outer line stricter. */
function followCommands(line: ShellLine, scope: VariableScope, inside: Inside): void {
  const { found } = inside;
  for (const { direction, target } of line.redirects)
    if (direction === "out" && target) found.guessedTargets.push(expandWord(target, scope));
  for (const command of line.commands) {
    const args = command.args.map((arg) => expandWord(arg, scope));
    for (const { name, value } of command.assignments)
      if (value) followVariable(name, value.value, { ...inside, command, scope });
    if (command.name) follow(command.name, args, { ...inside, command, scope });
  }
}

/** Adds the programs that the script `text` would start to `found`. */
export function followScript(text: string, found: StartedPrograms): void {
  const line = parseShell(text);
  const { errors, evaluates } = line;
  if (errors.length > 0) found.unreadable.push(text);
  for (const why of [...errors, ...evaluates])
    found.opaque.push(`a script that it runs cannot be seen through: ${showText(why)}`);
  const inside = { depth: 1, certain: false, inOption: true, found, source: text } as const;
  followCommands(line, scopeOf(line, found.scopes[0]), inside);
}

/** Analyses the start of a program again as if the program had been called by `path`. */
export function followProgram(
  { name, args, command, depth }: ProgramStart,
  path: string,
  found: StartedPrograms,
): void {
  const inside = { command, depth: depth + 1, certain: false, inOption: true, found, scope: found.scopes[0]! } as const;
  follow({ ...name, value: path, text: path }, args, { ...inside, source: found.sources[0]! });
}
