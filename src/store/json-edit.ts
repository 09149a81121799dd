// Edits a JSON text that people also edit: comments, order and all other fields are preserved.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../json/object.ts";
import { type JsonRange, parseJsonc, pastBlanks, rangesIn } from "./jsonc.ts";

type JsonPath = readonly (string | number)[];

export type JsonEdit =
  /** Appends to a list, which is created if missing. */
  | { type: "append"; path: JsonPath; value: unknown }
  /** Adds a value, and the missing members on its path. A member that is there must be removed first. */
  | { type: "set"; path: JsonPath; value: unknown }
  | { type: "remove"; path: JsonPath };

/** Applies the edits, and checks that the new text parses to the expected value. `text` is undefined if there is no file yet. */
export function editJson(text: string | undefined, edits: readonly JsonEdit[]): string {
  if (text === undefined) return `${JSON.stringify(edits.reduce(applyToValue, {}), null, 2)}\n`;
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const body = text.slice(mark.length);
  const changed = edits.reduce(editText, body);
  if (!isDeepStrictEqual(parseJsonc(changed), edits.reduce(applyToValue, parseJsonc(body) as JsonObject)))
    throw new Error("the edit of a configuration file went wrong; nothing was saved");
  return mark + changed;
}

/** Applies an edit to the parsed value, to get the expected result. */
function applyToValue(content: JsonObject, { path, ...edit }: JsonEdit): JsonObject {
  const next = structuredClone(content);
  let holder: unknown = next;
  for (const [index, key] of path.slice(0, -1).entries()) {
    const inside = holder as Record<string | number, unknown>;
    if (inside[key] === undefined && edit.type !== "remove")
      inside[key] = typeof path[index + 1] === "number" ? [] : {};
    holder = inside[key];
  }
  const last = path.at(-1)!;
  const inside = holder as Record<string | number, unknown>;
  if (edit.type === "set") inside[last] = edit.value;
  else if (edit.type === "append") inside[last] = [...((inside[last] as unknown[]) ?? []), edit.value];
  else if (Array.isArray(holder)) holder.splice(last as number, 1);
  else delete inside[last];
  return next;
}

function editText(text: string, edit: JsonEdit): string {
  const places = rangesIn(text);
  if (edit.type === "remove") return removeText(text, places, edit.path);
  const list = edit.type === "append" ? places.get(pathText(edit.path)) : undefined;
  if (list) return insertText(text, list, edit.value);
  // Add the rest of the path as a new member to the deepest object that exists.
  let depth = edit.path.length - 1;
  while (depth > 0 && !places.has(pathText(edit.path.slice(0, depth)))) depth--;
  const value = edit.type === "append" ? [edit.value] : edit.value;
  const member = edit.path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return insertText(text, places.get(pathText(edit.path.slice(0, depth)))!, member, String(edit.path[depth]));
}

/** Inserts at the end of an object or a list, on separate lines if the last item is. */
function insertText(text: string, { start, end, lastChild }: JsonRange, value: unknown, key?: string): string {
  const close = end - 1;
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const name = key === undefined ? "" : `${JSON.stringify(key)}: `;
  const step = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const onLines = (indent: string) => name + JSON.stringify(value, null, step).replaceAll("\n", lineBreak + indent);
  const onOne = () => name + JSON.stringify(value);
  if (lastChild === undefined) {
    // A file of one line stays on one line; a comment inside may extend to the end of its line.
    if (text.slice(start + 1, close).trim() === "" && !text.trim().includes("\n"))
      return `${text.slice(0, start + 1)}${onOne()}${text.slice(close)}`;
    const indent = indentAt(text, start);
    const head = text.slice(0, close).trimEnd();
    return `${head}${lineBreak}${indent}${step}${onLines(indent + step)}${lineBreak}${indent}${text.slice(close)}`;
  }
  // The last item may be followed by a comma and a comment that belongs to it.
  const rest = /^([ \t]*,)?((?:[ \t]|\/\*(?:(?!\*\/).)*\*\/)*(?:\/\/[^\r\n]*)?)/.exec(text.slice(lastChild, close))!;
  const [whole, comma = "", tail = ""] = rest;
  const after = lastChild + whole.length;
  const spread = /[\r\n]/.test(text.slice(start, lastChild)) && /^\s*[\r\n]/.test(text.slice(after));
  const indent = indentAt(text, lastChild);
  const separator = spread || tail.includes("//") ? lineBreak + indent : " ";
  const entry = separator === " " ? onOne() : onLines(indent);
  return `${text.slice(0, lastChild)},${tail.trimEnd()}${separator}${entry}${comma.trim()}${text.slice(after)}`;
}

/** Removes an item with its comma, and its key if it has one. Comments around it stay. */
function removeText(text: string, places: Map<string, JsonRange>, path: JsonPath): string {
  const holder = places.get(pathText(path.slice(0, -1)))!;
  const children = childrenOf(places, holder);
  const place = places.get(pathText(path))!;
  const index = children.indexOf(place);
  const before = index === 0 ? holder.start + 1 : children[index - 1]!.end;
  const comma = pastBlanks(text, place.end);
  const hasCommaBehind = text[comma] === ",";
  const first = index === 0 ? pastBlanks(text, before) : pastBlanks(text, pastBlanks(text, before) + 1);
  const behind = hasCommaBehind ? text.slice(place.end, comma) + text.slice(comma + 1) : text.slice(place.end);
  // Remove the blanks before the member but not a comment there. Keep the line break unless another one follows.
  const gap = text.slice(before, first);
  const isLine = /\/\/[^\n]*\s*$/.test(gap.replace(/\/\*[\s\S]*?\*\//g, "")) && !/^[ \t]*\r?\n/.test(behind);
  const from = isLine ? first : first - /\s*$/.exec(gap)![0].length;
  const head = text.slice(0, from);
  if (hasCommaBehind || index === 0) {
    const isEmpty = children.length === 1 && /^\s*$/.test(behind.slice(0, behind.search(/[\]}]/)));
    return head + (isEmpty && from === holder.start + 1 ? behind.trimStart() : behind);
  }
  // When removing the last item, also remove the comma before it.
  const separator = pastBlanks(text, before);
  return text.slice(0, separator) + text.slice(separator + 1, from) + behind;
}

/** Returns the direct children of an object or array, in order. */
function childrenOf(places: Map<string, JsonRange>, holder: JsonRange): JsonRange[] {
  const children: JsonRange[] = [];
  for (const place of places.values()) {
    const isInside = place.start > holder.start && place.end < holder.end;
    if (isInside && place.start >= (children.at(-1)?.end ?? 0)) children.push(place);
  }
  return children;
}

function pathText(path: JsonPath): string {
  return path.reduce<string>(
    (name, key) => (typeof key === "number" ? `${name}[${key}]` : name === "" ? key : `${name}.${key}`),
    "",
  );
}

/** Returns the indentation of the line at a position. */
function indentAt(text: string, at: number): string {
  const from = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(from))![0];
}
