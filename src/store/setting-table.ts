// The table of settings: name, file, valid values and meaning of each. `config` shows and changes them.
import { join } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";
import { programName } from "../text/program-name.ts";
import { type FieldCheck, oneOf, text, textList, truth } from "./checked-fields.ts";
import { editConfig } from "./config-edit.ts";
import { courserFields, providerFields } from "./courser-settings.ts";
import { editJson } from "./json-edit.ts";
import { readJson } from "./json-file.ts";

export type SettingFile = "cli-config.json" | "courser.json";

export type Setting = {
  /** The name as typed; also the path of its field, unless `path` is given. */
  name: string;
  file: SettingFile;
  path?: readonly string[];
  /** Converts between the value and the form in which the file stores it, if they differ. */
  stored?: { decode(field: unknown): unknown; encode(value: unknown): unknown };
  check: FieldCheck;
  meaning: string;
  /** The default value of the setting. */
  default?: unknown;
  /** The environment variable that takes precedence over the files. */
  variable?: string;
  /** The command that writes it, for settings that are more than a value. */
  by?: string;
};

const cli = (name: string, check: FieldCheck, meaning: string, more: Partial<Setting> = {}): Setting => ({
  name,
  file: "cli-config.json",
  check,
  meaning,
  ...more,
});

/** A setting of courser.json by field name; its check is the one used for reading. */
const ours = (name: string, meaning: string, fallback?: unknown): Setting => ({
  name,
  file: "courser.json",
  check: courserCheck(name.split(".")),
  meaning,
  ...(fallback !== undefined && { default: fallback }),
});

export const settings: readonly Setting[] = [
  cli("model", text, "Model to use when --model is not given", {
    stored: {
      decode: (field) => (isObject(field) ? field["modelId"] : field),
      encode: (value) => (isObject(value) ? value : { modelId: value, displayName: value }),
    },
    default: "auto",
    variable: "COURSER_MODEL",
  }),
  cli(
    "approvalMode",
    oneOf("allowlist", "auto-review", "unrestricted"),
    "Who decides on commands that no rule covers",
    {
      default: "allowlist",
    },
  ),
  cli("permissions.allow", textList, "Rules of what needs no question", { default: [], by: "permissions allow" }),
  cli("permissions.deny", textList, "Rules of what is never done", { default: [], by: "permissions deny" }),
  cli("sandbox.mode", oneOf("enabled", "disabled"), "Sandbox for commands that no rule allows", {
    default: "print mode, and commands that only read",
    by: "sandbox enable",
  }),
  cli("autoAcceptWebSearch", truth, "Web searches need no permission", { default: false }),
  cli("editor.vimMode", truth, "Vim keys in the terminal", { default: false }),
  cli(
    "display.theme",
    oneOf("auto", "dark", "light", "contrast"),
    "Colours of the terminal; auto suits its background",
    {
      default: "auto",
    },
  ),
  cli("display.showThinkingBlocks", truth, "Show what the model thinks", { default: false }),
  cli("display.showLineNumbers", truth, "Line numbers beside code", { default: true }),
  cli("display.showStatusIndicators", truth, "State of the run in the window's title", { default: true }),
  cli("notifications", truth, "Notify when a turn ends or asks", { default: true }),
  cli("statusLine", text, "Command that prints rows below the editor", {
    stored: {
      decode: (field) => (isObject(field) ? field["command"] : undefined),
      encode: (value) => ({ type: "command", command: value }),
    },
  }),

  ours("fallbackModels", "Models to try when the chosen one fails", []),
  ours("retries", "How often a failed request is sent again", 3),
  ours("timeoutMs", "Milliseconds until an answer must begin", 120_000),
  ours("idleMs", "Longest pause within an answer, in milliseconds", 120_000),
  ours("maxTurns", "Model replies for one prompt, if --max-turns is not given", 500),
  ours("loopLimit", "How often the same call may repeat", 5),
  ours("contextTokens", "Context window, if the known value is wrong"),
  ours("backgroundWaitMs", "How long print mode waits for background commands", 5000),
  ours("pruneAfterDays", "Delete unnamed chats that were last used longer ago"),
  ours("mergeOutput", "Whether errors of commands go to their output, in exact order", false),
  ours("diagnostics", "Whether language servers check edits in trusted workspaces", true),
  ours("mcpStartMs", "How long an MCP server may take to start", 30_000),
  ours("mcpCallMs", "How long an MCP server may take to answer", 120_000),
  ours("search.engine", "Engine for web searches: searxng, brave, tavily, exa"),
  ours("search.url", "Address of the search engine"),
  ours("search.keyEnv", "Variable that holds the engine's key"),
  ours("embeddings.url", "Server that ranks the results of code search"),
  ours("embeddings.model", "Model of that server"),
  ours("embeddings.keyEnv", "Variable that holds its key"),
];

const providerMeanings: Readonly<Record<keyof typeof providerFields, string>> = {
  type: "Kind of endpoint",
  baseUrl: "Its address",
  keyEnv: "Variable that holds its key",
  headers: "Sent with every request",
  models: "Its models",
  keys: "Variables with several keys, used in turn",
  tokenCommand: "Program that prints a bearer token",
  textChannels: "Whether tags in its text are thinking and calls",
};

/** Endpoints have user-defined names: `providers.local.baseUrl`. */
function providerSetting(name: string): Setting | undefined {
  const [, own, field] = /^providers\.(.+)\.(\w+)$/s.exec(name) ?? [];
  if (own === undefined || !Object.hasOwn(providerFields, field!)) return undefined;
  const key = field as keyof typeof providerFields;
  const path = ["providers", own, key];
  return { name, file: "courser.json", path, check: providerFields[key], meaning: providerMeanings[key] };
}

/** Returns the setting with this name. Throws for an unknown one, with a suggestion. */
export function findSetting(name: string): Setting {
  const found = settings.find((each) => each.name === name) ?? providerSetting(name);
  if (found) return found;
  const lower = name.toLowerCase();
  const names = settings.map((each) => each.name);
  const near =
    nearestName(name, names) ??
    names.find((each) => each.toLowerCase() === lower || each.toLowerCase().endsWith(`.${lower}`));
  const hint = near === undefined ? `To list them: ${programName()} config` : `Did you mean ${near}?`;
  throw usageError(`unknown setting '${name}'. ${hint}`);
}

/** A setting with its value; `source` is a variable, a file, `default` or `not set`. */
export type SettingValue = { setting: Setting; value: unknown; source: string };

/** Returns the settings in table order, followed by those of the user's endpoints. */
export function settingValues(configDir: string, env: NodeJS.ProcessEnv): SettingValue[] {
  const files = contentsOf(configDir);
  const providers = isObject(files["courser.json"]["providers"]) ? files["courser.json"]["providers"] : {};
  const endpointSettings = Object.entries(providers).flatMap(([name, entry]) =>
    Object.keys(isObject(entry) ? entry : {}).flatMap((field) => providerSetting(`providers.${name}.${field}`) ?? []),
  );
  return [...settings, ...endpointSettings].map((setting) => readValue(setting, files, env));
}

export function settingValue(setting: Setting, configDir: string, env: NodeJS.ProcessEnv): SettingValue {
  return readValue(setting, contentsOf(configDir), env);
}

type Contents = Record<SettingFile, JsonObject>;

function contentsOf(configDir: string): Contents {
  const read = (file: SettingFile) => readJson(join(configDir, file)) ?? {};
  return { "cli-config.json": read("cli-config.json"), "courser.json": read("courser.json") };
}

function readValue(setting: Setting, files: Contents, env: NodeJS.ProcessEnv): SettingValue {
  const fromVariable = setting.variable && env[setting.variable];
  if (fromVariable) return { setting, value: fromVariable, source: setting.variable! };
  const field = fieldAt(files[setting.file], settingPath(setting));
  const value = field === undefined || !setting.stored ? field : setting.stored.decode(field);
  return value === undefined
    ? { setting, value: setting.default, source: setting.default === undefined ? "not set" : "default" }
    : { setting, value, source: setting.file };
}

function settingPath({ path, name }: Setting): readonly string[] {
  return path ?? name.split(".");
}

function fieldAt(content: unknown, path: readonly string[]): unknown {
  let value = content;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Formats a value on one line; an unset value is a dash. Headers may hold keys, so only their names are shown. */
export function shownSetting(setting: Setting, value: unknown): string {
  if (value === undefined) return "-";
  if (Array.isArray(value) && value.length === 0) return "none";
  const plain = hiddenValue(setting, value);
  return typeof plain === "string" ? plain : Array.isArray(plain) ? plain.join(", ") : JSON.stringify(plain);
}

export function hiddenValue({ name }: Setting, value: unknown): unknown {
  if (!name.endsWith(".headers") || !isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, "…"]));
}

/** Parses what the user typed to a valid value: a word, JSON, or a comma-separated list. */
export function parseSetting({ name, check }: Setting, typed: string): unknown {
  const readings: (() => unknown)[] = [
    () => typed,
    () => JSON.parse(typed) as unknown,
    () => typed.split(",").map((item) => item.trim()),
  ];
  for (const read of readings) {
    try {
      const value = read();
      if (check.is(value)) return value;
    } catch {
      // The text is not valid JSON: try the next form.
    }
  }
  throw usageError(`'${name}' must be ${check.what}, not '${typed}'. To list them: ${programName()} config`);
}

/** Saves a value, or removes it if undefined. Returns whether the file was changed. */
export function saveSetting(configDir: string, setting: Setting, value: unknown): boolean {
  const file = join(configDir, setting.file);
  const path = settingPath(setting);
  return editConfig({ file, scope: "user" }, (current) => {
    const holder = fieldAt(current?.content ?? {}, path.slice(0, -1));
    if (holder !== undefined && !isObject(holder))
      throw new UserError(
        "CONFIG_INVALID",
        `${file}: "${path.slice(0, -1).join(".")}" must be an object. Fix it first.`,
      );
    const isThere = isObject(holder) && Object.hasOwn(holder, path.at(-1)!);
    if (value === undefined && !isThere) return undefined;
    const written = setting.stored && value !== undefined ? setting.stored.encode(value) : value;
    // Setting a field adds it without removing an old one.
    return editJson(current?.text ?? emptyFile(setting.file), [
      ...(isThere ? [{ type: "remove", path } as const] : []),
      ...(value === undefined ? [] : [{ type: "set", path, value: written } as const]),
    ]);
  });
}

/** Returns the path of a settings file, and creates it if missing. */
export function settingsFile(configDir: string, name: SettingFile): string {
  const file = join(configDir, name);
  editConfig({ file, scope: "user" }, (current) => (current ? undefined : emptyFile(name)));
  return file;
}

function emptyFile(name: SettingFile): string {
  return name === "courser.json" ? "{\n}\n" : '{\n  "version": 1\n}\n';
}

function courserCheck([first, second]: readonly string[]): FieldCheck {
  const field = courserFields[first as keyof typeof courserFields] as
    | FieldCheck
    | { fields: Record<string, FieldCheck> };
  return "fields" in field ? field.fields[second!]! : field;
}
