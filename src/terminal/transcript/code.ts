// Code with colours: keywords, strings, numbers, comments and names of types; everything else in the terminal's own ink.
import { type Colour, join, linesOf, type Painted, type Palette } from "../painted.ts";
import type { Rendering } from "./rendering.ts";

const colours: Record<string, Colour> = {
  keyword: "keyword",
  boolean: "number",
  number: "number",
  string: "string",
  "template-string": "string",
  "attr-value": "string",
  char: "string",
  regex: "string",
  comment: "comment",
  prolog: "comment",
  "class-name": "type",
  builtin: "type",
  tag: "keyword",
  "attr-name": "type",
  property: "type",
  selector: "keyword",
  atrule: "keyword",
  inserted: "good",
  deleted: "bad",
  "inserted-sign": "good",
  "deleted-sign": "bad",
  heading: "bold",
  title: "bold",
};

export function codeLines(
  code: string,
  language: string,
  { palette, rendering }: { palette: Palette; rendering: Rendering | undefined },
): Painted[] {
  const text = code.replaceAll("\t", "    ");
  if (!rendering) return linesOf(text).map(palette.plain);
  return rendering
    .codePieces(linesOf(text).join("\n"), language)
    .map((line) => join(...line.map((piece) => palette[(piece.kind && colours[piece.kind]) || "plain"](piece.text))));
}
