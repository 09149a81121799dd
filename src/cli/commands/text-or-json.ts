// The flag of every command that prints: for people, or for programs.
import type { Flag } from "../flags.ts";

export const textOrJson: Flag = {
  name: "format",
  value: "<format>",
  choices: ["text", "json"],
  group: "Output",
  help: "text (default) or json",
};
