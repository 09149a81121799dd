// Maps token kinds of code to colours: keywords, strings, numbers, comments and type names.
import type { Colour } from "../painted.ts";

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

/** Returns the colour of a token, whose `kind` is the highlighter's name for it; undefined for the terminal's default colour. */
export function colourOfCode(kind: string | undefined): Colour | undefined {
  return kind !== undefined && Object.hasOwn(colours, kind) ? colours[kind] : undefined;
}
