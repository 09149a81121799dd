// Records code passed to programs: scripts in their own language, files they run, and input from other commands.

import type { ShellCommand } from "../parse/shell.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import type { VariableCode } from "../programs/code-variables.ts";
import { baseName, isInterpreter } from "../programs/command-names.ts";
import { dangerousArguments } from "../programs/dangerous-options.ts";
import { databaseShells, instructed, otherLanguages } from "../programs/program-kinds.ts";
import { isOption } from "../programs/read-options.ts";
import type { ProgramStart, StartedPrograms } from "./started-programs.ts";

/** The command that contains the code, the text of its line, and the list to which findings are added. */
type CodeTrail = { found: StartedPrograms; command: ShellCommand; source: string };

/** Records texts in another language that may name files: code that a program runs, and its instructions. */
export function noteCode(
  { name, args }: ProgramStart,
  code: readonly ShellWord[],
  { found, command, source }: CodeTrail,
): void {
  const by = baseName(name.value);
  const isOther = otherLanguages.has(by) && !/^(g?sed|[gmn]?awk)$/.test(by);
  const isPager = by === "less" || by === "more";
  // A database file is not code, and a file of statements is read separately.
  const file = by === "sqlite3" ? args.find((arg) => !isOption(arg)) : undefined;
  const isRead = (at: number) => databaseShells.has(by) && /^(-f|--file)$/.test(args[at - 1]?.value ?? "");
  for (const { value } of isOther ? args.filter((arg, at) => arg !== file && !isRead(at)) : code)
    if (!isPager || value.startsWith("+")) found.code.push({ text: value, by });
  const takesText =
    isOther ||
    isInterpreter(by) ||
    instructed.has(by) ||
    (by === "git" && args.some(({ value }) => /^(apply|am)$/.test(value)));
  if (!takesText) return;
  // An editor or a database takes commands from its input, whatever file it works on.
  if (isOther && command.piped) found.code.push({ text: source, by });
  const isPatching = by === "patch" || by === "git";
  if (isPatching) found.patches.push(...args.filter((arg) => !isOption(arg)));
  for (const { direction, body, target } of command.redirects)
    if (direction === "text") found.code.push({ text: body ?? target?.value ?? "", by });
    else if (isPatching && direction === "in" && target) found.patches.push(target);
}

/** Records that a program reads its script from a file, another descriptor or another command. */
export function followInput(base: string, { found, command, source }: CodeTrail, isGiven: boolean): void {
  const from = command.redirects.filter((redirect) => redirect.descriptors.includes(0));
  const isCopied = from.some(({ direction, target }) => direction === "copy" && !/^0?-?$/.test(target?.value ?? ""));
  if (from.some(({ direction }) => direction === "in")) found.opaque.push(`${base} runs a file`);
  else if (!isGiven && isCopied) found.opaque.push(`${base} runs what another descriptor contains`);
  else if (!isGiven && command.piped) found.opaque.push(`${base} runs what another command writes`);
  if (!isGiven && (command.piped || isCopied)) found.code.push({ text: source, by: base });
}

/** Records a script file, to which the rules for programs apply, unless it is a device. */
export function followFile(file: ShellWord | undefined, base: string, { found }: CodeTrail): void {
  if (!file) return;
  found.files.push({ word: file, by: base });
  // A glob stands for existing files, unless it may expand to an option.
  const isOpen = file.dynamic || (file.glob && /^[*?[]/.test(file.value));
  if (isOpen || /^\/(dev|proc)\//.test(file.value))
    found.opaque.push(`${base} runs something that is not known in advance`);
}

export function followDatabase(base: string, name: ShellWord, trail: CodeTrail): void {
  const { found, command } = trail;
  const texts = command.redirects.filter((redirect) => redirect.direction === "text").map(({ body }) => body);
  // `echo 'select 1' | sqlite3 file` also shows the statements.
  const [first, ...later] = command.upstream?.() ?? [];
  const isSpoken = first !== undefined && later.length === 0 && /^(echo|printf)$/.test(first.name.value);
  if (isSpoken) texts.push(...first.args.map((arg) => (arg.dynamic ? undefined : arg.value)));
  const isHarmful = texts.some(
    (value) =>
      value === undefined ||
      dangerousArguments({ name, args: [{ ...name, value: value.replaceAll("\\n", "\n") }] }).length > 0,
  );
  // A redirected file of statements counts like one that an option names.
  for (const { direction, target } of command.redirects) if (direction === "in") followFile(target, base, trail);
  if (!isHarmful && (!command.piped || isSpoken)) return;
  found.inline.push(`${base} runs what it is given to read`);
  found.opaque.push(`${base} is given statements that may start programs`);
}

/** Records the files that a variable makes programs load. The shell expands their paths. */
export function noteLoads(by: string, loads: VariableCode["loads"], { files }: StartedPrograms): void {
  for (const { path, kind } of loads)
    files.push({ word: { ...literalWord(path), dynamic: /[$`]/.test(path) }, by, loads: kind });
}
