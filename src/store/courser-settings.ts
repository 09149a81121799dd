// courser.json: the settings that the original does not know. Ours alone, so wrong types are errors.
import { isObject } from "../json/object.ts";
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

/** An endpoint of the user's own. `keyEnv`: the variable that holds its key; `keys`: variables to rotate through. */
export const providerFields = {
  type: text,
  baseUrl: url,
  keyEnv: variable,
  headers: namedTexts,
  models: textList,
  keys: textList,
  tokenCommand: text,
};

export const courserFields = {
  providers: { what: "an object of named endpoints", is: isObject },
  /** Who is asked when the web is searched. */
  search: { fields: { engine: text, url, keyEnv: variable } },
  /** An endpoint of the OpenAI kind that turns texts into vectors: what code search found is put in order by it. */
  embeddings: { fields: { url, model: text, keyEnv: variable } },
  fallbackModels: textList,
  retries: wholeFrom(0),
  timeoutMs: wholeFrom(1),
  idleMs: wholeFrom(1),
  maxTurns: wholeFrom(1),
  loopLimit: wholeFrom(1),
  contextTokens: wholeFrom(1),
  /** How long a run waits for its background commands before it is over. */
  backgroundWaitMs: wholeFrom(0),
  /** Both streams of a command in one, in the order in which they were written. */
  mergeOutput: truth,
  /** How long an MCP server may take to start, and to answer a call or show progress. */
  mcpStartMs: wholeFrom(1),
  mcpCallMs: wholeFrom(1),
};

export type CourserSettings = Omit<Checked<typeof courserFields>, "providers"> & {
  providers: Record<string, Checked<typeof providerFields>>;
};

/** Names that one may expect here, and what to write instead. */
const otherNames: Record<string, string> = {
  authProfiles: 'several keys of one vendor are listed in "providers.<name>.keys".',
};

export function readCourserSettings(file: string, warnings: string[]): CourserSettings {
  const content = readJson(file);
  if (content === undefined) return { providers: {} };
  const { $schema: _schema, ...fields } = content;
  const settings = { file, remedy: "Fix it, or remove it.", warnings, adviceOn };
  const { providers = {}, ...rest } = checkFields(settings, "", fields, courserFields);
  // Without a prototype: the names are the user's.
  const named = Object.create(null) as CourserSettings["providers"];
  for (const [name, entry] of Object.entries(providers))
    named[name] = checkObject(settings, `providers.${name}`, entry, providerFields);
  return { ...rest, providers: named };
}

const adviceOn: SettingsFile["adviceOn"] = ({ key, meant, names }) => {
  if (Object.hasOwn(otherNames, key)) return otherNames[key];
  return meant === undefined ? `the fields are ${names.join(", ")}.` : `did you mean "${meant}"?`;
};

function isAddress(value: unknown): value is string {
  return typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
