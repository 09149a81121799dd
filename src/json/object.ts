// Defines parsed JSON objects, and builds, parses and reads them safely.
import { tryOr } from "../text/try-or.ts";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an untrusted key: plain assignment to `__proto__` would change the prototype and lose the key. */
export function setUntrustedKey(object: JsonObject, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Returns undefined if the text is not JSON; JSON itself has no undefined. */
export function tryParse(text: string): unknown {
  return tryOr(() => JSON.parse(text), undefined);
}

/** Returns the same text for the same value, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    .join(",")}}`;
}

/** Returns an object's fields. Here and below, a value that is missing or of another type counts as empty. */
export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns undefined if the field is no text, or the value no object. */
export function textIn(value: unknown, key: string): string | undefined {
  const text = fieldsOf(value)[key];
  return typeof text === "string" ? text : undefined;
}

export function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Leaves out the fields that are undefined, so that they neither override others nor count as given. */
export function definedFields<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

export function withoutKeys<Key extends string>(object: object, keys: readonly Key[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key as Key)));
}
