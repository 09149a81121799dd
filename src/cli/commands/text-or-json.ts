// The flag of every command that prints: for people, or for programs.
import { type Flag, flag } from "../flags.ts";

export const textOrJson: Flag = flag("Output", "--format <format>", "text (default) or json", {
  choices: ["text", "json"],
});
