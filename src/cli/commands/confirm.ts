// Asks for confirmation before something that cannot be undone: --yes, or an answer on the terminal.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";

/** `sure` is the command that does it without asking. */
export async function confirmed({ line, name }: Invocation, question: string, sure: string): Promise<boolean> {
  if (line.flags.has("yes")) return true;
  const { isatty } = await import("node:tty");
  if (!isatty(0)) {
    throw new UserError(
      "USAGE",
      `'${line.command}' asks for confirmation, but there is no terminal. To skip the question: ${name} ${sure}`,
    );
  }
  const { promptYes } = await import("../prompt-hidden.ts");
  return promptYes(question);
}
