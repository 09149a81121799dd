// Asks for confirmation before something that cannot be undone: --yes, or an answer on the terminal.
import { usageError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";
import { writeStderr } from "../stdout.ts";

/** `sure` is the command that does it without asking. `affected` is shown above the question. */
export async function askToConfirm(
  { line, name }: Invocation,
  question: string,
  sure: string,
  affected = "",
): Promise<boolean> {
  if (line.flags.has("yes")) return true;
  const { isatty } = await import("node:tty");
  if (!isatty(0)) {
    throw usageError(
      `'${/^[a-z]+( [a-z]+)?/.exec(sure)![0]}' asks for confirmation, but there is no terminal. To skip the question: ${name} ${sure}`,
    );
  }
  const { promptYes } = await import("../prompt-hidden.ts");
  if (affected !== "") writeStderr(affected);
  return promptYes(question);
}
