// Writes a command's whole answer to stdout.
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { openStdout } from "../stdout.ts";

/** Writes the whole answer and returns the exit code. */
export async function answer(text: string | Uint8Array): Promise<number> {
  let exitCode = 0;
  const stdout = openStdout(() => {
    exitCode = 141; // exit as if SIGPIPE had ended the program, which is what readers like `head` expect
  });
  stdout.write(text);
  await stdout.flush();
  return exitCode;
}

/** Prints a command's result as JSON, without undefined fields. */
export function answerJson(value: object): Promise<number> {
  return answer(`${JSON.stringify(value, null, 2)}\n`);
}

export function wantsJson({ line: { flags } }: Invocation): boolean {
  return flagText(flags, "format") === "json";
}
