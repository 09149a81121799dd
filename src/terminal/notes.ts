// Renders messages of the program that appear between the blocks of a conversation.
import { programName } from "../text/program-name.ts";
import { blanks, linesOf, type Painted, type Palette, wrap } from "./painted.ts";

export type Note = (text: string, palette: Palette, width: number) => Painted[];

/** Renders a message in a soft colour. */
export const said: Note = (text, { soft }, width) => linesOf(text).flatMap((line) => wrap(soft(line), width));

/** Renders text unchanged, such as the output of a command. Wrapped lines keep their indentation. */
export const shownAsItIs: Note = (text, { plain }, width) =>
  linesOf(text.replace(/^\n+|\s+$/g, "")).flatMap((line) =>
    wrap(plain(line), width, blanks(/^ */.exec(line)![0].length)),
  );

/** Renders an error message with an error sign. */
export const complained: Note = (text, { bad }, width) =>
  linesOf(asSlashCommands(text)).flatMap((line, index) =>
    wrap(bad(`${index === 0 ? "✗ " : "  "}${line}`), width, blanks(2)),
  );

/** Renders the first line of a command that the user typed. */
export const echoed: Note = (text, { soft }, width) => wrap(soft(`› ${linesOf(text)[0]}`), width, blanks(2));

/** Replaces command-line commands in a message by slash commands, since the user is not in a shell. */
export function asSlashCommands(message: string): string {
  const shell = new RegExp(
    `(['"]?)(?:${programName()}|courser) (login|logout|model|mcp login)s?\\b((?: [\\w-]+)*?)\\1`,
    "g",
  );
  return message.replace(shell, "/$2$3");
}
