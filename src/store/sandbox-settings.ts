// Reads sandbox.json of the user and the project, and the sandbox fields of cli-config.json: what commands may access. A
// project's file may only restrict: anything that would widen access is ignored with a warning.
import { join } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import { type Checked, checkFields, oneOf, textList, truth, variableList, wholeFrom } from "./checked-fields.ts";
import { readJson } from "./json-file.ts";
import { projectSandboxFile, userSandboxFile } from "./sandbox-files.ts";

/** Whether the sandbox is on; `auto` if no setting says so. */
export type SandboxMode = "enabled" | "disabled" | "auto";

export type NetworkSettings = { default: "allow" | "deny"; allow: string[]; deny: string[] };

/** The settings of the sandbox. Paths are as written: with `~`, relative to the workspace, or absolute. */
export type SandboxSettings = {
  mode: SandboxMode;
  type: "workspace_readwrite" | "workspace_readonly";
  readwritePaths: string[];
  readonlyPaths: string[];
  readBoundary: "system" | "workspace";
  /** What may be read outside the workspace if the read boundary is the workspace. */
  readPaths: string[];
  tmpWrite: boolean;
  sharedBuildCache: boolean;
  network: NetworkSettings;
  /** Names of environment variables that are passed in addition to the usual ones. */
  environment: string[];
  limits: { memoryMb?: number; processes?: number; temporaryMb?: number };
  warnings: string[];
};

export type SandboxSettingsInput = {
  configDir: string;
  workspace: string;
  /** The original folder, if the workspace is a copy. */
  standsFor?: string;
  /** The parsed content of cli-config.json. */
  cliConfig: JsonObject;
};

const fields = {
  type: oneOf("workspace_readwrite", "workspace_readonly", "insecure_none"),
  additionalReadwritePaths: textList,
  additionalReadonlyPaths: textList,
  readBoundary: oneOf("system", "workspace"),
  additionalReadPaths: textList,
  disableTmpWrite: truth,
  enableSharedBuildCache: truth,
  networkPolicy: { fields: { default: oneOf("allow", "deny"), allow: textList, deny: textList } },
  environment: variableList,
  limits: { fields: { memoryMb: wholeFrom(1), processes: wholeFrom(1), temporaryMb: wholeFrom(1) } },
};

/** The checked content of one file; unset fields are undefined. */
type SandboxFile = Checked<typeof fields>;

export function loadSandboxSettings(input: SandboxSettingsInput): SandboxSettings {
  const { configDir, workspace, standsFor = workspace, cliConfig } = input;
  const warnings: string[] = [];
  const userFile = userSandboxFile(configDir);
  const user = readFile(userFile, warnings);
  const configFile = join(configDir, "cli-config.json");
  const config = isObject(cliConfig["sandbox"]) ? cliConfig["sandbox"] : {};
  if (cliConfig["sandbox"] !== undefined && !isObject(cliConfig["sandbox"]))
    warnings.push(`${configFile}: "sandbox" must be an object, such as {"mode": "enabled"}; it is ignored.`);
  const settings = settingsOf(user, config, configFile, warnings);
  // If the workspace is the home folder, .cursor is the user's own.
  return [...new Set([workspace, standsFor].map(projectSandboxFile))]
    .filter((file) => file !== userFile)
    .reduce((wide, file) => narrowSettings(wide, readFile(file, warnings), file), settings);
}

function settingsOf(user: SandboxFile, config: JsonObject, configFile: string, warnings: string[]): SandboxSettings {
  const boundary = user.readBoundary ?? parseWord(config, "readBoundary", boundaries, configFile, warnings) ?? "system";
  const none = user.type === "insecure_none";
  return {
    mode: none ? "disabled" : (parseWord(config, "mode", modeWords, configFile, warnings) ?? "auto"),
    type: user.type === "workspace_readonly" ? "workspace_readonly" : "workspace_readwrite",
    readwritePaths: user.additionalReadwritePaths ?? [],
    readonlyPaths: user.additionalReadonlyPaths ?? [],
    readBoundary: boundary,
    readPaths: user.additionalReadPaths ?? [],
    tmpWrite: user.disableTmpWrite !== true,
    sharedBuildCache: user.enableSharedBuildCache === true,
    network: networkOf(user, config, configFile, warnings),
    environment: user.environment ?? [],
    limits: user.limits ?? {},
    warnings,
  };
}

/** Applies the project's settings, but only where they are stricter. */
function narrowSettings(settings: SandboxSettings, project: SandboxFile, file: string): SandboxSettings {
  const { warnings } = settings;
  const refuse = (what: string) =>
    warnings.push(`${file}: ${what} is ignored: a project may only narrow the sandbox. Your own file may widen it.`);
  if (project.type === "insecure_none") refuse('"type": "insecure_none"');
  for (const path of project.additionalReadwritePaths ?? []) refuse(`the writable path ${path}`);
  if (project.enableSharedBuildCache === true && !settings.sharedBuildCache) refuse('"enableSharedBuildCache"');
  for (const name of project.environment ?? [])
    if (!settings.environment.includes(name)) refuse(`the variable ${name} in "environment"`);
  const closes = project.readBoundary === "workspace" && settings.readBoundary === "system";
  if (!closes && settings.readBoundary === "workspace")
    for (const path of project.additionalReadPaths ?? []) refuse(`the readable path ${path}`);
  return {
    ...settings,
    type: project.type === "workspace_readonly" ? project.type : settings.type,
    readonlyPaths: [...settings.readonlyPaths, ...(project.additionalReadonlyPaths ?? [])],
    readBoundary: closes ? "workspace" : settings.readBoundary,
    // A project may add exceptions to a boundary that it has set itself.
    readPaths: closes ? [...settings.readPaths, ...(project.additionalReadPaths ?? [])] : settings.readPaths,
    tmpWrite: settings.tmpWrite && project.disableTmpWrite !== true,
    sharedBuildCache: settings.sharedBuildCache && project.enableSharedBuildCache !== false,
    network: narrowNetwork(settings.network, project.networkPolicy ?? {}, refuse),
    limits: lowerLimits(settings.limits, project.limits ?? {}),
  };
}

function narrowNetwork(
  user: NetworkSettings,
  project: NonNullable<SandboxFile["networkPolicy"]>,
  refuse: (what: string) => void,
): NetworkSettings {
  const deny = [...user.deny, ...(project.deny ?? [])];
  if (user.default === "deny") {
    for (const host of project.allow ?? []) if (!user.allow.includes(host)) refuse(`the host ${host}`);
    return { ...user, deny };
  }
  if (project.default !== "deny") return { ...user, deny };
  // The user allows every host, the project only some, which is fewer.
  return { default: "deny", allow: [...user.allow, ...(project.allow ?? [])], deny };
}

function lowerLimits(user: SandboxSettings["limits"], project: SandboxSettings["limits"]): SandboxSettings["limits"] {
  const limits = { ...user };
  for (const key of ["memoryMb", "processes", "temporaryMb"] as const)
    if (project[key] !== undefined) limits[key] = Math.min(project[key], user[key] ?? project[key]);
  return limits;
}

/** Accepted values for the sandbox mode, with synonyms, since the original CLI documents none. */
const modeWords: Record<string, SandboxMode> = {
  enabled: "enabled",
  on: "enabled",
  disabled: "disabled",
  off: "disabled",
  allowlist: "disabled",
};
const networkWords: Record<string, "none" | "listed" | "all"> = {
  disabled: "none",
  deny: "none",
  none: "none",
  allowlist: "listed",
  enabled: "all",
  allow: "all",
  all: "all",
};
const boundaries = { system: "system", workspace: "workspace" } as const;

function networkOf(user: SandboxFile, config: JsonObject, file: string, warnings: string[]): NetworkSettings {
  const policy = user.networkPolicy ?? {};
  const asked = parseWord(config, "networkAccess", networkWords, file, warnings) ?? "listed";
  const deny = policy.deny ?? [];
  if (asked === "none") return { default: "deny", allow: [], deny };
  // The default in sandbox.json wins; without one, networkAccess of cli-config.json decides.
  const byDefault = asked === "all" ? (policy.default ?? "allow") : (policy.default ?? "deny");
  return { default: byDefault, allow: policy.allow ?? [], deny };
}

function parseWord<Value extends string>(
  config: JsonObject,
  key: string,
  words: Record<string, Value>,
  file: string,
  warnings: string[],
): Value | undefined {
  const value = config[key];
  if (value === undefined) return undefined;
  const meant = typeof value === "string" && Object.hasOwn(words, value) ? words[value] : undefined;
  if (meant === undefined)
    warnings.push(`${file}: "sandbox.${key}" must be one of ${Object.keys(words).join(", ")}; it is ignored.`);
  return meant;
}

function readFile(file: string, warnings: string[]): SandboxFile {
  const content = readJson(file);
  if (content === undefined) return {};
  const settings = {
    file,
    remedy: "Fix it: an invalid sandbox setting protects nothing.",
    warnings,
    // Do not report unknown fields, which may belong to a later version.
    adviceOn: ({ meant }: { meant?: string }) => (meant === undefined ? undefined : `did you mean "${meant}"?`),
  };
  return checkFields(settings, "", content, fields);
}
