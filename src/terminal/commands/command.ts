// SlashCommand: a row of the table that help, completion and the dispatcher are built from.
import type { Desk } from "../desk.ts";

export type SlashCommand = {
  /** The name without the slash. */
  name: string;
  aliases?: readonly string[];
  /** The arguments as shown in help: `[filter]`, `<name>`. */
  operands?: string;
  help: string;
  /** True if it ends or replaces the run, and so cannot run during a turn. */
  needsIdle?: boolean;
  /** True if it runs at once: it does not wait for earlier input, and later input does not wait for it. */
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
