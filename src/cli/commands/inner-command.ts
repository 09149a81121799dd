// Subcommands such as `sessions list` and `sandbox run`: finds them, checks their flags and runs them.
import { type UserError, usageError } from "../../protocol/error-codes.ts";
import { nearestName } from "../../text/nearest.ts";
import { checkChoice, type Flag, flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";

export type InnerCommand = {
  name: string;
  summary: string;
  /** `<x>` is required, `[x]` optional; a final `…` allows several. Undefined if the command takes no words. */
  operands?: string;
  flags?: readonly Flag[];
  /** The general flags that this command accepts. */
  uses?: readonly string[];
  /** Descriptions of those flags where they mean something else than in a run. */
  meanings?: Readonly<Record<string, string>>;
  examples?: readonly string[];
  /** `words` are those after the subcommand's name. Resolves with the exit code. */
  load(): Promise<(invocation: Invocation, words: readonly string[]) => Promise<number>>;
};

export type OuterCommand = {
  name: string;
  commands: readonly InnerCommand[];
  /** The subcommand that runs if none is named. Without it, help is shown. */
  inner?: string;
};

/** `help` prints the help that is shown if no subcommand is named. */
export async function runInner(
  outer: OuterCommand,
  invocation: Invocation,
  help: () => Promise<number>,
): Promise<number> {
  const [name = outer.inner, ...words] = invocation.line.words;
  if (name === undefined || name === "help") return help();
  const command = outer.commands.find((each) => each.name === name);
  if (!command) throw unknownCommand(name, outer, invocation.name);
  return runCommand(command, { outer, invocation, words });
}

type InnerCall = { outer: OuterCommand; invocation: Invocation; words: readonly string[] };

async function runCommand(command: InnerCommand, { outer, invocation, words }: InnerCall): Promise<number> {
  checkFlags(command, outer, invocation);
  checkWords(command, { outer, invocation, words });
  return (await command.load())(invocation, words);
}

/** Refuses flags of other subcommands. The parser accepts them, and they would be ignored silently. */
function checkFlags(command: InnerCommand, outer: OuterCommand, { line, name }: Invocation): void {
  const all = new Set(outer.commands.flatMap((each) => each.flags ?? []).map((flag) => flag.name));
  for (const flag of all) {
    if (!line.flags.has(flag)) continue;
    const ownFlag = command.flags?.find((each) => each.name === flag);
    if (!ownFlag && command.uses?.includes(flag)) continue;
    if (!ownFlag) {
      const near = nearestName(flag, [...(command.flags?.map((each) => each.name) ?? []), ...(command.uses ?? [])]);
      const meant = near === undefined ? "" : ` Did you mean --${near}?`;
      throw usageError(
        `'${outer.name} ${command.name}' does not take --${flag}.${meant} What it takes: ${name} help ${outer.name} ${command.name}`,
      );
    }
    const value = flagText(line.flags, flag);
    if (value !== undefined) checkChoice(ownFlag, value);
  }
}

function checkWords({ name, operands }: InnerCommand, { outer, invocation, words }: InnerCall): void {
  const isTooFew = words.length === 0 && operands?.startsWith("<");
  const isTooMany = words.length > 0 && operands === undefined;
  if (!isTooFew && !isTooMany) return;
  const usage = [invocation.name, outer.name, name, ...(operands ? [operands] : [])].join(" ");
  const why = isTooFew ? `needs ${operands}` : "takes no arguments";
  const hint = operands?.startsWith("<id") ? `. To list the chats: ${invocation.name} ls` : "";
  throw usageError(`'${outer.name} ${name}' ${why}. Type: ${usage}${hint}`);
}

export function unknownCommand(word: string, outer: OuterCommand, program: string): UserError {
  const names = outer.commands.map((command) => command.name);
  const near = nearestName(word, names);
  const hint = near ? ` Did you mean ${outer.name} ${near}?` : ` The commands are ${names.join(", ")}.`;
  return usageError(`unknown command '${outer.name} ${word}'.${hint} Type: ${program} help ${outer.name}`);
}
