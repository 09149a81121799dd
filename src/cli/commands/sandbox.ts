// `sandbox …`: hands over to the command that is named; help where none is.
import { UserError } from "../../protocol/error-codes.ts";
import { nearestName } from "../../protocol/nearest.ts";
import type { Invocation } from "../main.ts";
import { sandboxCommands } from "./sandbox/index.ts";

export async function sandbox(invocation: Invocation): Promise<number> {
  const [name, ...words] = invocation.line.words;
  if (name === undefined || name === "help") return (await import("./help.ts")).help(invocation, "sandbox");
  const command = sandboxCommands.find((each) => each.name === name);
  if (!command) throw unknownCommand(name, invocation.name);
  if (words.length > 0 !== (command.operands !== undefined)) {
    const usage = `${invocation.name} sandbox ${name}${command.operands ? ` -- ${command.operands}` : ""}`;
    throw new UserError("USAGE", `'sandbox ${name}' takes ${command.operands ?? "no words"}. Type: ${usage}`);
  }
  return (await command.load())(invocation, words);
}

function unknownCommand(word: string, name: string): UserError {
  const names = sandboxCommands.map((command) => command.name);
  const near = nearestName(word, names);
  return new UserError(
    "USAGE",
    `there is no command 'sandbox ${word}'.${near ? ` Did you mean sandbox ${near}?` : ` There are ${names.join(", ")}.`} Type: ${name} help sandbox`,
  );
}
