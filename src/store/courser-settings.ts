// Reads courser.json: the settings that the original CLI does not know. No other program writes it, so wrong types are errors.
import { isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { type ReasoningEffort, reasoningEfforts } from "../protocol/run.ts";
import {
  type Checked,
  checkFields,
  checkObject,
  namedTexts,
  type SettingsFile,
  text,
  textList,
  truth,
  variable,
  wholeFrom,
} from "./checked-fields.ts";
import { readJson } from "./json-file.ts";

const url = { what: "an http or https address", is: isAddress };

/** An endpoint of the user. `keyEnv` is the variable that holds its key; `keys` are variables to rotate through. */
export const providerFields = {
  type: text,
  baseUrl: url,
  keyEnv: variable,
  headers: namedTexts,
  models: textList,
  keys: textList,
  tokenCommand: text,
  textChannels: { what: "true or false", is: (value: unknown): value is boolean => typeof value === "boolean" },
};

const amount = { what: "a number of dollars, 0 or more", is: isAmount };

/** Settings of a model by any of its names. Prices are in dollars per million tokens. */
const modelFields = {
  contextTokens: wholeFrom(1),
  outputTokens: wholeFrom(1),
  price: { fields: { input: amount, output: amount, cacheRead: amount, cacheWrite: amount } },
  effort: {
    what: `one of ${reasoningEfforts.join(", ")}`,
    is: (value: unknown): value is ReasoningEffort => reasoningEfforts.some((each) => each === value),
  },
  headers: namedTexts,
};

export const courserFields = {
  providers: { what: "an object of named endpoints", is: isObject },
  models: { what: "an object of settings by model", is: isObject },
  /** The search engine that the WebSearch tool uses. */
  search: { fields: { engine: text, url, keyEnv: variable } },
  /** An OpenAI-compatible embeddings endpoint, used to rank the results of code search. */
  embeddings: { fields: { url, model: text, keyEnv: variable } },
  fallbackModels: textList,
  retries: wholeFrom(0),
  timeoutMs: wholeFrom(1),
  idleMs: wholeFrom(1),
  maxTurns: wholeFrom(1),
  loopLimit: wholeFrom(1),
  contextTokens: wholeFrom(1),
  /** How many milliseconds a run waits for background commands before it ends. */
  backgroundWaitMs: wholeFrom(0),
  /** Deletes untitled chats that have been unused for longer than this, once a day. */
  pruneAfterDays: wholeFrom(1),
  /** Merges stdout and stderr of a command, in the order in which they were written. */
  mergeOutput: truth,
  /** Whether installed language servers check for errors after edits. */
  diagnostics: truth,
  /** How many milliseconds an MCP server may take to start; the other limit is for answering a call. */
  mcpStartMs: wholeFrom(1),
  mcpCallMs: wholeFrom(1),
};

type ModelFields = Checked<typeof modelFields>;

export type CourserSettings = Omit<Checked<typeof courserFields>, "providers" | "models"> & {
  providers: Record<string, Checked<typeof providerFields>>;
  models?: Record<string, Omit<ModelFields, "price"> & { price?: ModelPrice }>;
};

type ModelPrice = { input: number; output: number; cacheRead?: number; cacheWrite?: number };

/** Names that users may expect here, and what to write instead. */
const otherNames: Record<string, string> = {
  authProfiles: 'several keys of one vendor are listed in "providers.<name>.keys".',
};

export function readCourserSettings(file: string, warnings: string[]): CourserSettings {
  const content = readJson(file);
  if (content === undefined) return { providers: {} };
  const { $schema: _schema, ...fields } = content;
  const settings = { file, remedy: "Fix it, or remove it.", warnings, adviceOn };
  const { providers = {}, models, ...rest } = checkFields(settings, "", fields, courserFields);
  // Use an object without a prototype, since users choose the names.
  const named = Object.create(null) as CourserSettings["providers"];
  for (const [name, entry] of Object.entries(providers))
    named[name] = checkObject(settings, `providers.${name}`, entry, providerFields);
  return { ...rest, providers: named, ...(models && { models: modelsIn(settings, models) }) };
}

function modelsIn(settings: SettingsFile, models: object): NonNullable<CourserSettings["models"]> {
  const named = Object.create(null) as NonNullable<CourserSettings["models"]>;
  for (const [name, entry] of Object.entries(models)) {
    const { price, ...rest } = checkObject(settings, `models.${name}`, entry, modelFields);
    if (price && (price.input === undefined || price.output === undefined))
      throw new UserError(
        "CONFIG_INVALID",
        `${settings.file}: "models.${name}.price" needs "input" and "output". ${settings.remedy}`,
      );
    named[name] = { ...rest, ...(price && { price: price as ModelPrice }) };
  }
  return named;
}

const adviceOn: SettingsFile["adviceOn"] = ({ key, meant, names }) => {
  if (Object.hasOwn(otherNames, key)) return otherNames[key];
  return meant === undefined ? `the fields are ${names.join(", ")}.` : `did you mean "${meant}"?`;
};

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
