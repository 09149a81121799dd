// What the program itself says between the blocks of a conversation, as lines of a width.
import { blanks, linesOf, type Painted, type Palette, wrap } from "./painted.ts";

export type Note = (text: string, palette: Palette, width: number) => Painted[];

/** Soft: by the way. */
export const said: Note = (text, { soft }, width) => linesOf(text).flatMap((line) => wrap(soft(line), width));

/** Text as it is, such as the output of one of our commands. Lines that are wrapped keep their indentation. */
export const shownAsItIs: Note = (text, { plain }, width) =>
  linesOf(text.replace(/^\n+|\s+$/g, "")).flatMap((line) =>
    wrap(plain(line), width, blanks(/^ */.exec(line)![0].length)),
  );

/** What went wrong, with its sign. */
export const complained: Note = (text, { bad }, width) =>
  linesOf(text).flatMap((line, index) => wrap(bad(`${index === 0 ? "✗ " : "  "}${line}`), width, blanks(2)));

/** A command that was typed: the first line is enough to know it by. */
export const echoed: Note = (text, { soft }, width) => wrap(soft(`› ${linesOf(text)[0]}`), width, blanks(2));
