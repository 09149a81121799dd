// Checks untrusted plain data against a table of fields. An error names its field.
import { nearestName } from "../text/nearest.ts";
import { isObject } from "./object.ts";

/** Returns what the value must be, or undefined if it is valid. */
export type Check = (value: unknown) => string | undefined;

const typed =
  (type: string, words: string): Check =>
  (value) =>
    typeof value === type ? undefined : words;

export const text = typed("string", "must be a string");
export const number = typed("number", "must be a number");
export const flag = typed("boolean", "must be true or false");
export const callback = typed("function", "must be a function");
export const object: Check = (value) => (isObject(value) ? undefined : "must be an object");
export const positive: Check = (value) =>
  typeof value === "number" && value > 0 ? undefined : "must be a positive number";
export const milliseconds: Check = (value) =>
  typeof value === "number" && value >= 0 ? undefined : "must be a number of milliseconds";
export const signal: Check = (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal");
export const anything: Check = () => undefined;

export const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string) ? undefined : `must be one of ${values.join(", ")}`;

export const listOf =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) ? value.map(item).find((fault) => fault !== undefined) : "must be a list";

export const words = listOf(text);

export const either =
  (...checks: readonly Check[]): Check =>
  (value) => {
    const faults = checks.map((check) => check(value));
    return faults.includes(undefined) ? undefined : faults.join(", or ");
  };

export type FieldTable = Readonly<Record<string, Check>>;

export const fields =
  (table: FieldTable, required: readonly string[] = []): Check =>
  (value) => {
    if (!isObject(value)) return "must be an object";
    const missing = required.find((name) => value[name] === undefined);
    if (missing !== undefined) return `needs "${missing}"`;
    for (const [name, given] of Object.entries(value)) {
      if (given === undefined) continue;
      const check = Object.hasOwn(table, name) ? table[name] : undefined;
      if (!check) {
        const near = nearestName(name, Object.keys(table));
        return `has an unknown field "${name}"${near ? ` (did you mean "${near}"?)` : ""}`;
      }
      const fault = check(given);
      if (fault !== undefined) return `"${name}" ${fault}`;
    }
    return undefined;
  };
