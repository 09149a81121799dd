// `sessions …`: hands over to the command that is named, list where none is.
import { UserError } from "../../protocol/error-codes.ts";
import { nearestName } from "../../protocol/nearest.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { type SessionCommand, sessionCommands, sessionFlags } from "./sessions/index.ts";

export async function sessions(invocation: Invocation): Promise<number> {
  const [name = "list", ...words] = invocation.line.words;
  const command = sessionCommands.find((each) => each.name === name);
  if (!command) throw unknownCommand(name, invocation.name);
  return runSessionCommand(command, invocation, words);
}

/** `export` alone, without `sessions`. */
export async function exportAlone(invocation: Invocation): Promise<number> {
  const command = sessionCommands.find((each) => each.name === "export")!;
  return runSessionCommand(command, invocation, invocation.line.words);
}

async function runSessionCommand(
  command: SessionCommand,
  invocation: Invocation,
  words: readonly string[],
): Promise<number> {
  checkFlags(command, invocation);
  if (words.length > 0 && !command.operands)
    throw new UserError("USAGE", `'sessions ${command.name}' takes no words. Type: ${invocation.name} help sessions`);
  return (await command.load())(invocation, words);
}

/** The parser takes the flags of every command here; a wrong one must not be passed over in silence. */
function checkFlags(command: SessionCommand, { line, name }: Invocation): void {
  for (const { name: flag } of sessionFlags) {
    if (!line.flags.has(flag)) continue;
    const own = command.flags?.find((each) => each.name === flag);
    if (!own) {
      throw new UserError(
        "USAGE",
        `'sessions ${command.name}' does not take --${flag}. What it takes: ${name} help sessions ${command.name}`,
      );
    }
    const value = flagText(line.flags, flag);
    if (own.choices && value !== undefined && !own.choices.includes(value)) {
      const near = nearestName(value, own.choices);
      throw new UserError(
        "USAGE",
        `option '--${flag}' cannot be '${value}'; it is one of ${own.choices.join(", ")}.${near ? ` Did you mean ${near}?` : ""}`,
      );
    }
  }
}

function unknownCommand(word: string, name: string): UserError {
  const names = sessionCommands.map((command) => command.name);
  const near = nearestName(word, names);
  return new UserError(
    "USAGE",
    `there is no command 'sessions ${word}'.${near ? ` Did you mean sessions ${near}?` : ` There are ${names.join(", ")}.`} Type: ${name} help sessions`,
  );
}
