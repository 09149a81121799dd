// SlashCommand: a row of the table that help, completion and the dispatcher are built from.
import type { Desk } from "../desk.ts";

export type SlashCommand = {
  /** The name of the command, without the slash. */
  name: string;
  aliases?: readonly string[];
  /** The arguments as the help shows them: `[filter]`, `<name>`. */
  operands?: string;
  help: string;
  /** Whether the command ends or replaces the run, so that it cannot run during a turn. */
  needsIdle?: boolean;
  /** Whether the command runs at once: it neither waits for earlier input nor delays later input. */
  isBeside?: boolean;
  run(desk: Desk, rest: string): void | Promise<void>;
};

/** Makes a slash command that runs a command-line command and shows its output. */
export function commandOutput(...words: readonly string[]): SlashCommand["run"] {
  return async (desk) => {
    const { text } = await desk.command(words);
    desk.show(text);
  };
}
