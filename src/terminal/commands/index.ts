// The table of slash commands, and what a line that begins with a slash means.
import { nearestName } from "../../text/nearest.ts";
import { join, nothing, type Painted, type Palette, padded } from "../painted.ts";
import type { CommandGroup, SlashCommand } from "./command.ts";

export type { SlashCommand };

import { contextCommands } from "./context.ts";
import { goalCommand } from "./goal.ts";
import { modelAndModeCommands } from "./model-and-mode.ts";
import { projectCommands } from "./project.ts";
import { screenCommands } from "./screen.ts";
import { sessionCommands } from "./session.ts";

const helpCommand: SlashCommand = {
  name: "help",
  operands: "[command]",
  help: "Commands and keys",
  group: "Screen",
  run(desk, rest) {
    const wanted = rest.replace(/^\//, "");
    const found = wanted === "" ? undefined : findCommand(wanted);
    if (wanted !== "" && !found) return desk.complain(unknown(wanted, []));
    desk.commit(found ? [nothing, lineOf(found, desk.palette), nothing] : helpLines(desk.palette));
  },
};

export const slashCommands: readonly SlashCommand[] = [
  ...sessionCommands,
  ...modelAndModeCommands,
  ...contextCommands,
  goalCommand,
  ...projectCommands,
  ...screenCommands,
  helpCommand,
];

export function findCommand(name: string): SlashCommand | undefined {
  return slashCommands.find((each) => each.name === name || each.aliases?.includes(name));
}

/** `prompt`: it is for the model. `unknown`: it is never sent. */
export type Typed =
  | { type: "command"; command: SlashCommand; rest: string }
  | { type: "prompt" }
  | { type: "unknown"; message: string };

/** `names`: of custom commands, skills and subagents, which the run itself expands. */
export function readTyped(text: string, names: readonly string[]): Typed {
  const match = /^\/([^\s/]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  // `/usr/bin …` is a path, not a command.
  if (!match) return { type: "prompt" };
  const [, name, rest = ""] = match;
  if (names.includes(name!)) return { type: "prompt" };
  const command = findCommand(name!);
  return command
    ? { type: "command", command, rest: rest.trim() }
    : { type: "unknown", message: unknown(name!, names) };
}

function unknown(name: string, names: readonly string[]): string {
  const known = [...slashCommands.flatMap((each) => [each.name, ...(each.aliases ?? [])]), ...names];
  const near = nearestName(name, known);
  return `There is no command /${name}.${near === undefined ? " /help lists them." : ` Did you mean /${near}?`}`;
}

export function helpLines(palette: Palette): Painted[] {
  const groups = [...new Set(slashCommands.map(({ group }) => group))];
  return groups.flatMap((group: CommandGroup) => [
    nothing,
    palette.bold(`  ${group}`),
    ...slashCommands.filter((each) => each.group === group).map((each) => lineOf(each, palette)),
  ]);
}

function lineOf({ name, operands = "", aliases = [], help }: SlashCommand, palette: Palette): Painted {
  const usage = join(
    palette.plain("  "),
    palette.accent(`/${name}`),
    palette.soft(operands === "" ? "" : ` ${operands}`),
  );
  const others = aliases.length === 0 ? "" : `  (${aliases.map((alias) => `/${alias}`).join(" ")})`;
  return join(padded(usage, 36), palette.plain(help), palette.soft(others));
}

/** For the editor's popup. */
export function commandChoices(
  names: readonly string[],
): { name: string; description: string; needsArgument?: boolean }[] {
  return [
    ...slashCommands.map(({ name, help, operands }) => ({
      name: `/${name}`,
      description: help,
      ...(operands?.startsWith("<") && { needsArgument: true }),
    })),
    ...names.map((name) => ({ name: `/${name}`, description: "of this project or yours" })),
  ];
}
