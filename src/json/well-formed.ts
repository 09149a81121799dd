// Replaces what vendors and local servers refuse or misread in text: halves of surrogate pairs (cut emoji) and NUL characters.

import { perObject } from "./per-object.ts";

/** Matches how JSON writes them, but not a backslash before the same letters. */
const escaped = /(?<!\\)((?:\\\\)*)\\u(?:d[89a-f][0-9a-f]{2}|0000)/g;

const wellFormedObject = perObject((value: object): object => {
  const json = JSON.stringify(value);
  const legal = json.replace(escaped, "$1\ufffd");
  return legal === json ? value : JSON.parse(legal);
});

export function wellFormed<Value>(value: Value): Value {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\0", "\ufffd") as Value & string;
  return typeof value === "object" && value !== null ? (wellFormedObject(value) as Value & object) : value;
}
