// SlashCommand: one row of the table that help, completion and the dispatcher are made from.
import type { Desk } from "../desk.ts";

export type CommandGroup = "Session" | "Model and mode" | "Context" | "Project" | "Have it written" | "Screen";

export type SlashCommand = {
  /** Without the slash. */
  name: string;
  aliases?: readonly string[];
  /** What may follow it: `[filter]`, `<name>`. */
  operands?: string;
  help: string;
  group: CommandGroup;
  /** It ends or replaces the run: not while a turn works. */
  needsIdle?: boolean;
  /** It waits for nothing that was typed before it, and nothing waits for it. */
  isBeside?: boolean;
  run(desk: Desk, rest: string): void | Promise<void>;
};

/** One of our own commands, whose output is shown. */
export function shows(...words: readonly string[]): SlashCommand["run"] {
  return async (desk) => {
    const { text } = await desk.command(words);
    desk.show(text);
  };
}
