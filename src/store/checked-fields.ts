// Checks the fields of a settings file against a table: an invalid value is an error, an unknown name a warning.

import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";

/** A check for one field; `what` describes a valid value and continues the message "must be …". */
export type FieldCheck<Value = unknown> = {
  what: string;
  is(value: unknown): value is Value;
  /** All valid values, if the field accepts only a few words. */
  words?: readonly string[];
};

/** Checks for the fields of an object; `fields` describes a nested object. */
export type FieldTable = { readonly [name: string]: FieldCheck | { fields: FieldTable } };

/** The type of an object that passes the checks of a table. */
export type Checked<Table> = {
  -readonly [Name in keyof Table]?: Table[Name] extends FieldCheck<infer Value>
    ? Value
    : Table[Name] extends { fields: infer Inner }
      ? Checked<Inner>
      : never;
};

export type SettingsFile = {
  file: string;
  /** Advice on how to fix an invalid value, at the end of the error message. */
  remedy: string;
  warnings: string[];
  /** Returns the warning for an unknown name, given the likely intended one, or undefined for none. */
  adviceOn(unknown: { key: string; meant?: string; names: readonly string[] }): string | undefined;
};

/** Checks the fields of an object. `path` is the object's path with a trailing dot. */
export function checkFields<Table extends FieldTable>(
  settings: SettingsFile,
  path: string,
  content: JsonObject,
  table: Table,
): Checked<Table> {
  const { file, warnings, adviceOn } = settings;
  const names = Object.keys(table);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(content)) {
    const check = Object.hasOwn(table, key) ? table[key] : undefined;
    if (!check) {
      const near = nearestName(key, names);
      const advice = adviceOn({ key, ...(near !== undefined && { meant: path + near }), names });
      if (advice !== undefined) warnings.push(`${file}: "${path}${key}" is unknown: ${advice}`);
    } else if ("fields" in check) result[key] = checkObject(settings, path + key, value, check.fields);
    else if (check.is(value)) result[key] = value;
    else throw wrongField(settings, path + key, check.what);
  }
  return result as Checked<Table>;
}

export function checkObject<Table extends FieldTable>(
  settings: SettingsFile,
  path: string,
  value: unknown,
  table: Table,
): Checked<Table> {
  if (!isObject(value)) throw wrongField(settings, path, "an object");
  return checkFields(settings, `${path}.`, value, table);
}

function wrongField({ file, remedy }: SettingsFile, path: string, what: string): UserError {
  return new UserError("CONFIG_INVALID", `${file}: "${path}" must be ${what}. ${remedy}`);
}

export function isPlainText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}

export function isText(value: unknown): value is string {
  return isPlainText(value) && value !== "";
}

function isVariableName(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
}

export const text = { what: "a string", is: isText };
export const textList = listOf(isText, "a list of strings");
// A key pasted here by mistake must not be read as a name, nor shown.
export const variable = { what: "the name of an environment variable, not a key", is: isVariableName };
export const variableList = listOf(isVariableName, "a list of names of variables");
export const truth = { what: "true or false", is: (value: unknown) => typeof value === "boolean" };
export const namedTexts = {
  what: "an object of strings",
  is: (value: unknown): value is Record<string, string> => isObject(value) && Object.values(value).every(isPlainText),
};

export function listOf<Item>(isItem: (value: unknown) => value is Item, what: string): FieldCheck<Item[]> {
  return { what, is: (value): value is Item[] => Array.isArray(value) && value.every(isItem) };
}

export function oneOf<Word extends string>(...words: readonly Word[]): FieldCheck<Word> {
  return { what: `one of ${words.join(", ")}`, is: (value): value is Word => words.includes(value as Word), words };
}

export function wholeFrom(least: number): FieldCheck<number> {
  return {
    what: `an integer, at least ${least}`,
    is: (value): value is number => Number.isSafeInteger(value) && (value as number) >= least,
  };
}
