// Renders highlighted code: keywords, strings, numbers, comments and type names; the rest in the terminal's default colour.
import { type Colour, join, linesOf, type Painted, type Palette } from "../painted.ts";
import { colourOfCode } from "./code-colours.ts";
import { indented } from "./diff-lines.ts";
import type { Rendering } from "./rendering.ts";

/** Puts code between two soft lines, so that it differs from prose and can be copied unchanged. */
export function codeBlock(code: readonly Painted[], language: string, palette: Palette): Painted[] {
  const name = language === "" ? "" : ` ${language}`;
  return [palette.soft(`┌──${name}`), ...indented(code, 2), palette.soft("└──")];
}

const diffPaints: readonly [RegExp, Colour][] = [
  [/^(\+\+\+|---) |^(diff|index) /, "bold"],
  [/^@@/, "type"],
  [/^\+/, "added"],
  [/^-/, "removed"],
];

export function codeLines(
  code: string,
  language: string,
  { palette, rendering }: { palette: Palette; rendering: Rendering | undefined },
): Painted[] {
  const text = code.replaceAll("\t", "    ");
  if (language === "diff" || language === "patch")
    return linesOf(text).map((line) => palette[diffPaints.find(([begins]) => begins.test(line))?.[1] ?? "plain"](line));
  if (!rendering) return linesOf(text).map(palette.plain);
  return rendering
    .codePieces(linesOf(text).join("\n"), language)
    .map((line) => join(...line.map((piece) => palette[colourOfCode(piece.kind) ?? "plain"](piece.text))));
}
