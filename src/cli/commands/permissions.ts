// `permissions …`: hands over to the command that is named, list where none is.
import { UserError } from "../../protocol/error-codes.ts";
import { nearestName } from "../../protocol/nearest.ts";
import type { Invocation } from "../main.ts";
import { permissionCommands } from "./permissions/index.ts";

export async function permissions(invocation: Invocation): Promise<number> {
  const [name = "list", ...words] = invocation.line.words;
  const command = permissionCommands.find((each) => each.name === name);
  if (!command) throw unknownCommand(name, invocation.name);
  const { flags } = invocation.line;
  if (flags.has("project") && !command.flags?.some((flag) => flag.name === "project"))
    throw new UserError("USAGE", `'permissions ${name}' does not take --project.`);
  if (words.length > 0 !== (command.operands !== undefined)) {
    const usage = `${invocation.name} permissions ${name}${command.operands ? ` ${command.operands}` : ""}`;
    throw new UserError("USAGE", `'permissions ${name}' takes ${command.operands ?? "no words"}. Type: ${usage}`);
  }
  return (await command.load())(invocation, words);
}

function unknownCommand(word: string, name: string): UserError {
  const names = permissionCommands.map((command) => command.name);
  const near = nearestName(word, names);
  return new UserError(
    "USAGE",
    `there is no command 'permissions ${word}'.${near ? ` Did you mean permissions ${near}?` : ` There are ${names.join(", ")}.`} Type: ${name} help permissions`,
  );
}
