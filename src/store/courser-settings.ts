// courser.json: the settings that the original does not know. Ours alone, so wrong types are errors.
import { UserError } from "../protocol/error-codes.ts";
import { isObject, type JsonObject } from "../protocol/json-object.ts";
import { nearestName } from "../protocol/nearest.ts";
import { readJson } from "./json-file.ts";

/** An endpoint of the user's own. `keyEnv`: the variable that holds its key; `keys`: variables to rotate through. */
export type ProviderSettings = {
  type?: string;
  baseUrl?: string;
  keyEnv?: string;
  headers?: Record<string, string>;
  models?: string[];
  keys?: string[];
};

export type CourserSettings = {
  providers: Record<string, ProviderSettings>;
  fallbackModels?: string[];
  retries?: number;
  timeoutMs?: number;
  idleMs?: number;
  maxTurns?: number;
  loopLimit?: number;
  contextTokens?: number;
};

/** The value, or a thrown sentence: `must be …`. */
type Check = (value: unknown) => unknown;

const providerChecks: Record<keyof ProviderSettings, Check> = {
  type: text,
  baseUrl: url,
  keyEnv: variable,
  headers: texts,
  models: list,
  keys: list,
};

const checks: Record<keyof CourserSettings, Check> = {
  providers: (value) => value,
  fallbackModels: list,
  retries: (value) => whole(value, 0),
  timeoutMs: (value) => whole(value, 1),
  idleMs: (value) => whole(value, 1),
  maxTurns: (value) => whole(value, 1),
  loopLimit: (value) => whole(value, 1),
  contextTokens: (value) => whole(value, 1),
};

/** Names that one may expect here, and what to write instead. */
const otherNames: Record<string, string> = {
  authProfiles: 'several keys of one vendor are listed in "providers.<name>.keys".',
};

export function readCourserSettings(file: string, warnings: string[]): CourserSettings {
  const content = readJson(file);
  if (content === undefined) return { providers: {} };
  const { providers = {}, ...rest } = checked(file, "", content, checks, warnings);
  if (!isObject(providers)) throw wrong(file, "providers", "must be an object of named endpoints");
  // Without a prototype: the names are the user's.
  const named = Object.create(null) as Record<string, ProviderSettings>;
  for (const [name, entry] of Object.entries(providers)) {
    if (!isObject(entry)) throw wrong(file, `providers.${name}`, "must be an object");
    named[name] = checked(file, `providers.${name}.`, entry, providerChecks, warnings);
  }
  return { ...(rest as Omit<CourserSettings, "providers">), providers: named };
}

function checked(
  file: string,
  path: string,
  content: JsonObject,
  table: Record<string, Check>,
  warnings: string[],
): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(content)) {
    if (key === "$schema") continue;
    const check = Object.hasOwn(table, key) ? table[key] : undefined;
    if (!check) {
      const meant = nearestName(key, Object.keys(table));
      const advice = meant ? `did you mean "${path}${meant}"?` : `the fields are ${Object.keys(table).join(", ")}.`;
      const instead = Object.hasOwn(otherNames, key) ? otherNames[key] : advice;
      warnings.push(`${file}: "${path}${key}" is unknown: ${instead}`);
      continue;
    }
    try {
      result[key] = check(value);
    } catch (error) {
      throw wrong(file, path + key, (error as Error).message);
    }
  }
  return result;
}

function wrong(file: string, path: string, why: string): UserError {
  return new UserError("CONFIG_INVALID", `${file}: "${path}" ${why}. Correct it, or take it out.`);
}

function text(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new Error("must be text");
  return value;
}

function variable(value: unknown): string {
  // A key pasted here by mistake must not be read as a name, nor shown.
  if (typeof value !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(value))
    throw new Error("must be the name of an environment variable, not a key");
  return value;
}

function url(value: unknown): string {
  const given = text(value);
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new Error("must be an http or https address");
  return given;
}

function list(value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((each) => typeof each === "string" && each !== ""))
    throw new Error("must be a list of texts");
  return value as string[];
}

function texts(value: unknown): Record<string, string> {
  if (!isObject(value) || !Object.values(value).every((each) => typeof each === "string"))
    throw new Error("must be an object of texts");
  return value as Record<string, string>;
}

function whole(value: unknown, least: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least)
    throw new Error(`must be a whole number, at least ${least}`);
  return value;
}
