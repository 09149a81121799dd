// The colours of code: keywords, strings, numbers, comments and names of types.
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

/** Undefined: in the terminal's own ink. `kind`: as the highlighter calls it. */
export function colourOfCode(kind: string | undefined): Colour | undefined {
  return kind !== undefined && Object.hasOwn(colours, kind) ? colours[kind] : undefined;
}
