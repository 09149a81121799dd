// The fields of a settings file, checked by a table: a wrong value is an error, an unknown name is told.

import type { JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";

/** The value, or a thrown sentence: `must be …`. */
export type FieldCheck = (value: unknown) => unknown;

export type SettingsFile = {
  file: string;
  /** What to do about a wrong value: the end of the error. */
  remedy: string;
  warnings: string[];
  /** What to say of an unknown name, seeing what was probably meant; undefined: nothing. */
  adviceOn(unknown: { key: string; meant?: string; names: readonly string[] }): string | undefined;
};

/** `path`: where the object stands, with a dot at its end. */
export function checkFields(
  settings: SettingsFile,
  path: string,
  content: JsonObject,
  table: Readonly<Record<string, FieldCheck>>,
): JsonObject {
  const { file, warnings, adviceOn } = settings;
  const names = Object.keys(table);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(content)) {
    const check = Object.hasOwn(table, key) ? table[key] : undefined;
    if (!check) {
      const near = nearestName(key, names);
      const advice = adviceOn({ key, ...(near !== undefined && { meant: path + near }), names });
      if (advice !== undefined) warnings.push(`${file}: "${path}${key}" is unknown: ${advice}`);
      continue;
    }
    try {
      result[key] = check(value);
    } catch (error) {
      throw wrongField(settings, path + key, (error as Error).message);
    }
  }
  return result;
}

export function wrongField({ file, remedy }: SettingsFile, path: string, why: string): UserError {
  return new UserError("CONFIG_INVALID", `${file}: "${path}" ${why}. ${remedy}`);
}

export function textList(value: unknown): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "" && !each.includes("\0")))
    return value as string[];
  throw new Error("must be a list of strings");
}

export function isVariableName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
}

export function wholeFrom(least: number): FieldCheck {
  return (value) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    throw new Error(`must be an integer, at least ${least}`);
  };
}
