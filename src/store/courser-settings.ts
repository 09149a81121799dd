// courser.json: the settings that the original does not know. Ours alone, so wrong types are errors.
import { isObject } from "../json/object.ts";
import {
  checkFields,
  type FieldCheck,
  isVariableName,
  type SettingsFile,
  textList,
  wholeFrom,
  wrongField,
} from "./checked-fields.ts";
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

/** Who is asked when the web is searched. */
export type WebSearchSettings = { engine?: string; url?: string; keyEnv?: string };

/** An endpoint of the OpenAI kind that turns texts into vectors: what code search found is put in order by it. */
export type EmbeddingSettings = { url?: string; model?: string; keyEnv?: string };

export type CourserSettings = {
  providers: Record<string, ProviderSettings>;
  search?: WebSearchSettings;
  embeddings?: EmbeddingSettings;
  fallbackModels?: string[];
  retries?: number;
  timeoutMs?: number;
  idleMs?: number;
  maxTurns?: number;
  loopLimit?: number;
  contextTokens?: number;
  /** How long an MCP server may take to start, and to answer a call or show progress. */
  mcpStartMs?: number;
  mcpCallMs?: number;
};

const providerChecks: Record<keyof ProviderSettings, FieldCheck> = {
  type: text,
  baseUrl: url,
  keyEnv: variable,
  headers: texts,
  models: textList,
  keys: textList,
};

const searchChecks: Record<keyof WebSearchSettings, FieldCheck> = { engine: text, url, keyEnv: variable };

const embeddingChecks: Record<keyof EmbeddingSettings, FieldCheck> = { url, model: text, keyEnv: variable };

const checks: Record<keyof CourserSettings, FieldCheck> = {
  providers: (value) => value,
  search: (value) => value,
  embeddings: (value) => value,
  fallbackModels: textList,
  retries: wholeFrom(0),
  timeoutMs: wholeFrom(1),
  idleMs: wholeFrom(1),
  maxTurns: wholeFrom(1),
  loopLimit: wholeFrom(1),
  contextTokens: wholeFrom(1),
  mcpStartMs: wholeFrom(1),
  mcpCallMs: wholeFrom(1),
};

/** Names that one may expect here, and what to write instead. */
const otherNames: Record<string, string> = {
  authProfiles: 'several keys of one vendor are listed in "providers.<name>.keys".',
};

export function readCourserSettings(file: string, warnings: string[]): CourserSettings {
  const content = readJson(file);
  if (content === undefined) return { providers: {} };
  const { $schema: _schema, ...fields } = content;
  const settings = { file, remedy: "Correct it, or remove it.", warnings, adviceOn };
  const { providers = {}, search, embeddings, ...rest } = checkFields(settings, "", fields, checks);
  if (!isObject(providers)) throw wrongField(settings, "providers", "must be an object of named endpoints");
  // Without a prototype: the names are the user's.
  const named = Object.create(null) as Record<string, ProviderSettings>;
  for (const [name, entry] of Object.entries(providers)) {
    if (!isObject(entry)) throw wrongField(settings, `providers.${name}`, "must be an object");
    named[name] = checkFields(settings, `providers.${name}.`, entry, providerChecks);
  }
  const inner = (name: string, value: unknown, table: Record<string, FieldCheck>) => {
    if (!isObject(value)) throw wrongField(settings, name, "must be an object");
    return { [name]: checkFields(settings, `${name}.`, value, table) };
  };
  return {
    ...(rest as Omit<CourserSettings, "providers">),
    ...(search !== undefined && inner("search", search, searchChecks)),
    ...(embeddings !== undefined && inner("embeddings", embeddings, embeddingChecks)),
    providers: named,
  };
}

const adviceOn: SettingsFile["adviceOn"] = ({ key, meant, names }) => {
  if (Object.hasOwn(otherNames, key)) return otherNames[key];
  return meant === undefined ? `the fields are ${names.join(", ")}.` : `did you mean "${meant}"?`;
};

function text(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new Error("must be a string");
  return value;
}

function variable(value: unknown): string {
  // A key pasted here by mistake must not be read as a name, nor shown.
  if (!isVariableName(value)) throw new Error("must be the name of an environment variable, not a key");
  return value as string;
}

function url(value: unknown): string {
  const given = text(value);
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new Error("must be an http or https address");
  return given;
}

function texts(value: unknown): Record<string, string> {
  if (!isObject(value) || !Object.values(value).every((each) => typeof each === "string"))
    throw new Error("must be an object of strings");
  return value as Record<string, string>;
}
