// The table of slash commands, and the parser for lines that begin with a slash.
import type { CallableName } from "../../protocol/run.ts";
import { nearestName } from "../../text/nearest.ts";
import type { Desk } from "../desk.ts";
import { keyHelp } from "../keymap.ts";
import { blanks, join, nothing, type Painted, type Palette, padded, widthOf, wrap } from "../painted.ts";
import type { SlashCommand } from "./command.ts";

export type { SlashCommand };

import { backgroundCommand } from "./background.ts";
import { contextCommands } from "./context.ts";
import { goalCommand } from "./goal.ts";
import { modelAndModeCommands } from "./model-and-mode.ts";
import { projectCommands } from "./project.ts";
import { screenCommands } from "./screen.ts";
import { sessionCommands } from "./session.ts";
import { tasksCommand } from "./tasks.ts";
import { promptCommands } from "./write-for-me.ts";

const helpCommand: SlashCommand = {
  name: "help",
  aliases: ["keys"],
  operands: "[command]",
  help: "Keys and commands",
  async run(desk, rest) {
    const wanted = rest.replace(/^\//, "");
    if (wanted === "") return desk.page("Keys and commands", (columns) => helpLines(desk, columns));
    const found = findCommand(wanted);
    if (!found) return desk.complain(unknownCommandText(wanted, []));
    desk.commit(helpLine(found, desk.palette, desk.size.columns - 1));
  },
};

/** The commands in the groups that the help shows. */
const groups: readonly [title: string, commands: readonly SlashCommand[]][] = [
  ["Session", [...sessionCommands, backgroundCommand, tasksCommand]],
  ["Model and mode", modelAndModeCommands],
  ["Context", [...contextCommands, goalCommand]],
  ["Have it written", promptCommands],
  ["Project", projectCommands],
  ["Screen", [...screenCommands, helpCommand]],
];

export const slashCommands: readonly SlashCommand[] = groups.flatMap(([, commands]) => commands);

export function findCommand(name: string): SlashCommand | undefined {
  return slashCommands.find((each) => each.name === name || each.aliases?.includes(name));
}

/** What the typed text is. A `prompt` is sent to the model; an `unknown` command is never sent. */
export type Typed =
  | { type: "command"; command: SlashCommand; rest: string }
  | { type: "prompt" }
  | { type: "unknown"; message: string };

/** Parses typed text. `names` are the commands and skills that the run itself expands. */
export function readTyped(text: string, names: readonly CallableName[]): Typed {
  const [, away] = /^\s*&([\s\S]*)$/.exec(text) ?? [];
  if (away !== undefined) return { type: "command", command: backgroundCommand, rest: away.trim() };
  // Like in a shell, `exit` or `quit` alone on a line ends the program.
  const line = /^(?:exit|quit)$/.test(text.trim()) ? `/${text.trim()}` : text.trim();
  const match = /^\/([^\s/]*)(?:\s+([\s\S]*))?$/.exec(line);
  // Text such as `/usr/bin …` begins with a path, not a command.
  if (!match) return { type: "prompt" };
  const [, name, rest = ""] = match;
  const command = findCommand(name!);
  if (names.some((each) => each.name === name && !isBuiltInCommand(each))) return { type: "prompt" };
  return command
    ? { type: "command", command, rest: rest.trim() }
    : { type: "unknown", message: unknownCommandText(name!, names) };
}

/** Built-in names take precedence, except that a user's own command or skill overrides a built-in prompt such as `/review`. */
function isBuiltInCommand({ name, kind }: CallableName): boolean {
  const command = findCommand(name);
  return command !== undefined && !(promptCommands.includes(command) && (kind === "command" || kind === "skill"));
}

function unknownCommandText(name: string, names: readonly CallableName[]): string {
  const commandNames = [
    ...slashCommands.flatMap((each) => [each.name, ...(each.aliases ?? [])]),
    ...names.map((each) => each.name),
  ];
  const near = nearestName(name, commandNames);
  return `There is no command /${name}.${near === undefined ? " /help lists them." : ` Did you mean /${near}?`}`;
}

export function helpLines({ palette, conversation }: Desk, columns: number): Painted[] {
  const title = (text: string) => [nothing, palette.bold(`  ${text}`)];
  const names = conversation.names.filter((each) => !isBuiltInCommand(each));
  return [
    ...keyHelp().flatMap(({ title: name, rows }) => [
      ...title(name),
      ...rows.flatMap(({ keys, help }) => helpRow(palette.accent(`  ${keys}`), palette.plain(help), columns)),
    ]),
    ...groups.flatMap(([name, commands]) => [
      ...title(name),
      ...commands.flatMap((each) => helpLine(each, palette, columns)),
    ]),
    ...(names.length === 0 ? [] : title("Of this project, and your own")),
    ...names.flatMap(({ name, kind, description = "" }) =>
      helpRow(palette.accent(`  /${name}`), palette.plain(`${description}  (${kind})`.trim()), columns),
    ),
  ];
}

function helpLine(
  { name, operands = "", aliases = [], help }: SlashCommand,
  palette: Palette,
  columns: number,
): Painted[] {
  const usage = join(
    palette.plain("  "),
    palette.accent(`/${name}`),
    palette.soft(operands === "" ? "" : ` ${operands}`),
  );
  const others = aliases.length === 0 ? "" : `  also ${aliases.map((alias) => `/${alias}`).join(" ")}`;
  return helpRow(usage, join(palette.plain(help), palette.soft(others)), columns);
}

const helpColumn = 36;

/** Shows the help beside a command, or below it if there is not enough room. */
function helpRow(typed: Painted, help: Painted, columns: number): Painted[] {
  const isNarrow = columns < 2 * helpColumn;
  if (isNarrow || widthOf(typed) >= helpColumn) {
    const indent = blanks(isNarrow ? 4 : helpColumn);
    return [...wrap(typed, columns), ...wrap(join(indent, help), columns, indent)];
  }
  return wrap(join(padded(typed, helpColumn), help), columns, blanks(helpColumn));
}

/** Returns the entries of the editor's completion popup. */
export function commandChoices(
  names: readonly CallableName[],
): { name: string; description: string; aliases?: readonly string[]; needsArgument?: boolean; isSkill?: boolean }[] {
  const others = names.filter((each) => !isBuiltInCommand(each));
  const ours = slashCommands.filter(({ name }) => !others.some((each) => each.name === name));
  return [
    ...ours.map(({ name, help, operands, aliases = [] }) => ({
      name: `/${name}`,
      description: help,
      aliases,
      ...(operands?.startsWith("<") && { needsArgument: true }),
    })),
    ...others.map(({ name, kind, description }) => ({
      name: `/${name}`,
      description: description ?? kind,
      ...(kind === "skill" && { isSkill: true }),
    })),
  ];
}
