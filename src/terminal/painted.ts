// Painted: text that is safe to write to a terminal. Only this file creates it, so anything from a model, a command or a file is
// escaped before it can reach the screen.
import { visible } from "../text/visible.ts";
import { charactersOf, characterWidth, cutMiddle as cutTextMiddle, widthOf as textWidth } from "../text/width.ts";
import { type ColourDepth, colourCodes, type Theme } from "./colours.ts";

declare const painted: unique symbol;

/** Safe to write unchanged: text without control characters or line breaks, and only colours added by this program. */
export type Painted = string & { readonly [painted]: true };

export const nothing = "" as Painted;

/** Escapes text and colours it. A line break would be shown escaped: split the text into lines before. */
export type Paint = (text: string) => Painted;

export type Colour = keyof ReturnType<typeof colourCodes>;

export type Palette = Record<Colour, Paint> & {
  /** Keeps the colours in a command's output and escapes all other control sequences. */
  withColours: Paint;
  /** Combines several colours: `palette.both("bold", "accent")`. */
  both(...colours: readonly Colour[]): Paint;
  /** Called when the terminal has reported its background; later text uses matching colours. */
  setDark(dark: boolean): void;
  setTheme(theme: Theme): void;
};

/** Creates the functions that colour text. If the background is unknown (`dark`), the terminal's own 16 colours are used, which suit it. */
export function createPalette(given: { depth: ColourDepth; dark?: boolean | undefined; theme?: Theme }): Palette {
  const { depth } = given;
  let { dark, theme } = given;
  let codes = colourCodes(depth, dark, theme);
  const paint =
    (...colours: readonly Colour[]): Paint =>
    (text) => {
      const plainLine = lineText(text);
      const code = colours.length === 1 ? codes[colours[0]!] : joinCodes(colours.map((name) => codes[name]));
      return (code === "" || plainLine === "" ? plainLine : `\x1b[${code}m${plainLine}\x1b[0m`) as Painted;
    };
  const paints = Object.fromEntries((Object.keys(codes) as Colour[]).map((name) => [name, paint(name)]));
  return {
    ...(paints as Record<Colour, Paint>),
    both: paint,
    setDark(isDark) {
      dark = isDark;
      codes = colourCodes(depth, dark, theme);
    },
    setTheme(next) {
      theme = next;
      codes = colourCodes(depth, dark, theme);
    },
    withColours: (text) => colouredLine(text, { keep: depth !== "none" && codes.accent !== "" }),
  };
}

function joinCodes(codes: readonly string[]): string {
  return codes.filter(Boolean).join(";");
}

/** Splits a text into lines, each to be painted separately. */
export function linesOf(text: string): string[] {
  return text.replace(/\r\n?/g, "\n").split("\n");
}

/** Splits text into lines, like `linesOf`, but without the empty line after a final line break. */
export function wholeLines(text: string): string[] {
  return linesOf(text.replace(/\r?\n$/, ""));
}

export function join(...parts: readonly Painted[]): Painted {
  return joinAll(parts);
}

/** Joins any number of parts, where a call takes only some thousand arguments. */
export function joinAll(parts: readonly Painted[]): Painted {
  return parts.join("") as Painted;
}

export function blanks(width: number): Painted {
  return " ".repeat(Math.max(0, width)) as Painted;
}

const tabWidth = 4;

/** Escapes a text to fit on one line, and expands its tabs. */
function lineText(text: string): string {
  const visibleText = visible(text);
  return /[\t\n]/.test(visibleText) ? expandTabs(visibleText.replaceAll("\n", "\\u000a"), tabWidth) : visibleText;
}

function expandTabs(text: string, every: number): string {
  if (!text.includes("\t")) return text;
  let line = "";
  for (const part of text.split(/(\t)/)) line += part === "\t" ? " ".repeat(every - (textWidth(line) % every)) : part;
  return line;
}

const colourSequence = /\x1b\[([0-9;:]*)m/;

/** Paints a line of command output, which assumes tab stops every eight columns. */
function colouredLine(text: string, { keep }: { keep: boolean }): Painted {
  if (!text.includes("\x1b")) return expandTabs(visible(text).replaceAll("\n", "\\u000a"), 8) as Painted;
  let line = "";
  let isColoured = false;
  let width = 0;
  for (const [index, part] of text.split(new RegExp(colourSequence, "g")).entries()) {
    if (index % 2 === 1) {
      const code = keep ? shownColours(part) : undefined;
      if (code === undefined) continue;
      line += `\x1b[${code}m`;
      isColoured = code !== "" && code !== "0";
      continue;
    }
    for (const piece of visible(part).replaceAll("\n", "\\u000a").split(/(\t)/)) {
      const glyph = piece === "\t" ? " ".repeat(8 - (width % 8)) : piece;
      width += textWidth(glyph);
      line += glyph;
    }
  }
  return (isColoured ? `${line}\x1b[0m` : line) as Painted;
}

/** Removes blinking and hidden attributes. Returns undefined if no code is left. */
function shownColours(codes: string): string | undefined {
  const parts = codes.split(";");
  const kept: string[] = [];
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    const more = /^[345]8$/.test(part) ? ({ "2": 4, "5": 2 }[parts[index + 1] ?? ""] ?? 1) : 0;
    if (more > 0) {
      kept.push(...parts.slice(index, index + 1 + more));
      index += more;
    } else if (!/^0*[568]$/.test(part)) kept.push(part);
  }
  return kept.length === 0 ? undefined : kept.join(";");
}

/** Splits a line into colour codes and the text between them. */
function* splitAtCodes(line: Painted): Generator<{ code: string } | { text: string }> {
  for (const [index, part] of line.split(/(\x1b\[[0-9;:]*m)/).entries()) {
    if (part !== "") yield index % 2 === 1 ? { code: part } : { text: part };
  }
}

export function widthOf(line: Painted): number {
  return textWidth(line.includes("\x1b") ? line.replace(/\x1b\[[0-9;:]*m/g, "") : line);
}

/** Returns the text of a painted line without its colours. */
export function plainText(line: Painted): string {
  return line.replace(/\x1b\[[0-9;:]*m/g, "");
}

/** Cuts the line to the width, with an ellipsis if it is longer. */
export function cut(line: Painted, width: number): Painted {
  if (widthOf(line) <= width) return line;
  if (width < 1) return nothing;
  let kept = "";
  let room = width - 1;
  let isColoured = false;
  for (const piece of splitAtCodes(line)) {
    if ("code" in piece) {
      kept += piece.code;
      isColoured = !/\x1b\[0?m/.test(piece.code);
      continue;
    }
    for (const character of charactersOf(piece.text)) {
      const next = characterWidth(character);
      if (next > room) return `${kept}…${isColoured ? "\x1b[0m" : ""}` as Painted;
      room -= next;
      kept += character;
    }
  }
  return kept as Painted;
}

/** Shortens untrusted text in the middle, before it is painted. */
export function cutMiddle(text: string, width: number): string {
  return cutTextMiddle(lineText(text), width);
}

export function padded(line: Painted, width: number): Painted {
  return (line + " ".repeat(Math.max(0, width - widthOf(line)))) as Painted;
}

/** Puts `left` at the left and `right` at the right edge; `left` is cut if both do not fit. */
export function spread(left: Painted, right: Painted, width: number): Painted {
  if (right === "") return cut(left, width);
  const room = width - widthOf(right) - 2;
  if (room < 4) return cut(left, width);
  return join(padded(cut(left, room), room + 2), right);
}

/** Matches a URL, which is of use only if whole: a terminal opens it if it is one line, however many rows that takes. */
const address = /^[("'<[]*https?:\/\/\S/;

/**
 * Wraps the line to at most `width` columns, between words where possible; each piece begins with the colours in effect and
 * resets them at its end. `indent` goes before every piece but the first. With `addresses: "whole"`, longer URLs are left for the terminal
 * to wrap.
 */
export function wrap(
  line: Painted,
  width: number,
  indent: Painted = nothing,
  { addresses }: { addresses?: "whole" } = {},
): Painted[] {
  const most = Math.max(1, width);
  if (widthOf(line) <= most) return [line];
  const lines: Painted[] = [];
  const indentWidth = Math.min(widthOf(indent), most - 1);
  let colours = "";
  let current = "";
  let used = 0;
  let isEmpty = true;
  const breakLine = () => {
    lines.push((colours === "" ? current.trimEnd() : `${current.trimEnd()}\x1b[0m`) as Painted);
    current = (indentWidth > 0 ? indent : "") + colours;
    used = indentWidth;
    isEmpty = true;
  };
  for (const piece of splitIntoWords(line)) {
    if ("code" in piece) {
      colours = /^\x1b\[0?m$/.test(piece.code) ? "" : colours + piece.code;
      current += piece.code;
      continue;
    }
    const { text, width: wide } = piece;
    const isBlank = text.trim() === "";
    if (used + wide <= most) {
      if (isBlank && isEmpty && lines.length > 0) continue; // skip the blank at which the line is broken
      current += text;
      used += wide;
      isEmpty = false;
      continue;
    }
    if (isBlank) continue;
    if (!isEmpty) breakLine();
    if (addresses === "whole" && wide + used > most && address.test(text)) {
      current += text;
      used += wide;
      isEmpty = false;
      continue;
    }
    for (const character of charactersOf(text)) {
      const next = characterWidth(character);
      if (used + next > most && !isEmpty) breakLine();
      current += character;
      used += next;
      isEmpty = false;
    }
  }
  if (!isEmpty) lines.push((colours === "" ? current : `${current}\x1b[0m`) as Painted);
  return lines;
}

/** Splits a line where it may be broken: not between a wide character and its punctuation. */
const breaks =
  /( +|[\u3008\u300a\u300c\u300e\u3010\u3014\uff08\uff3b\uff5b]*[\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60][\u3001\u3002\u3005\u3009\u300b\u300d\u300f\u3011\u3015\u30fb\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3d\uff5d\u2026]*)/u;

/** Splits a line into words and blanks. A word that changes colour may be broken there. */
function* splitIntoWords(line: Painted): Generator<{ code: string } | { text: string; width: number }> {
  for (const piece of splitAtCodes(line)) {
    if ("code" in piece) yield piece;
    else for (const part of piece.text.split(breaks)) if (part !== "") yield { text: part, width: textWidth(part) };
  }
}
