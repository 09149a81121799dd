// Settings: what the configuration files say together. Nothing here is guessed: what cannot be understood and could weaken
// a deny rule stops the run, everything else is kept or reported.
import { join } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import { isObject, type JsonObject } from "../protocol/json-object.ts";
import { nearestName } from "../protocol/nearest.ts";
import { parseRule, type Rule, type RuleOrigin } from "../protocol/permission-rule.ts";
import { type CourserSettings, readCourserSettings } from "./courser-settings.ts";
import { readJson } from "./json-file.ts";

export type ApprovalMode = "allowlist" | "auto-review" | "unrestricted";

export type Settings = {
  model?: { modelId: string; displayName: string };
  /** Deny rules of every file; allow rules of the user, and of the project when it is trusted. */
  rules: Rule[];
  warnings: string[];
  approvalMode: ApprovalMode;
  vimMode: boolean;
  courser: CourserSettings;
  /** cli-config.json as it stands, fields of later versions included. */
  raw: JsonObject;
};

export type SettingsPlace = {
  configDir: string;
  workspace: string;
  trusted: boolean;
};

/** Fields of cli-config.json, to tell a misspelling from a field of a later version. */
const knownFields = [
  "version",
  "permissions",
  "editor",
  "channel",
  "model",
  "maxMode",
  "hasChangedDefaultModel",
  "notifications",
  "hints",
  "rewind",
  "suggestNextPrompt",
  "display",
  "approvalMode",
  "autoAcceptWebSearch",
  "sandbox",
  "network",
  "attribution",
  "statusLine",
  "privacyCache",
  "authInfo",
  "serverConfigCache",
];
const permissionFields = ["allow", "deny"];
const approvalModes: readonly ApprovalMode[] = ["allowlist", "auto-review", "unrestricted"];

function cliConfigFile(configDir: string): string {
  return join(configDir, "cli-config.json");
}

/** Reads a handful of files, and no others: a project's `.env` and its endpoints never count. */
export function loadSettings({ configDir, workspace, trusted }: SettingsPlace): Settings {
  const warnings: string[] = [];
  const rules: Rule[] = [];
  const file = cliConfigFile(configDir);
  const raw = readJson(file) ?? {};
  reportMisspelt(file, raw, knownFields, warnings);
  rules.push(...permissionRules(file, raw, "user", warnings));
  rules.push(...sharedAllowlists(join(configDir, "permissions.json"), "user", warnings));
  rules.push(...projectRules(join(workspace, ".cursor"), { configDir, trusted }, warnings));
  const model = modelOf(file, raw["model"], warnings);
  return {
    ...(model && { model }),
    rules,
    warnings,
    approvalMode: approvalModeOf(file, raw["approvalMode"], warnings),
    vimMode: vimModeOf(file, raw["editor"], warnings),
    courser: readCourserSettings(join(configDir, "courser.json"), warnings),
    raw,
  };
}

/** A project may narrow; it may widen only where the user trusts it; it sets nothing but permissions. */
function projectRules(
  folder: string,
  { configDir, trusted }: { configDir: string; trusted: boolean },
  warnings: string[],
): Rule[] {
  // Working in the home directory: its .cursor is the user's own.
  if (folder === configDir) return [];
  const file = join(folder, "cli.json");
  const content = readJson(file) ?? {};
  const misspelt = reportMisspelt(file, content, ["permissions"], warnings);
  const ignored = Object.keys(content).filter(
    (key) => !["permissions", "version", "$schema", ...misspelt].includes(key),
  );
  if (ignored.length > 0) warnings.push(`${file}: ${ignored.join(", ")} ignored: a project may set permissions only.`);

  for (const name of ["cli-config.json", "courser.json"]) reportUserFile(join(folder, name), warnings);

  const all = [
    ...permissionRules(file, content, "project", warnings),
    ...sharedAllowlists(join(folder, "permissions.json"), "project", warnings),
  ];
  if (trusted) return all;
  const waiting = all.filter((rule) => rule.verdict === "allow");
  if (waiting.length > 0) {
    const sources = [...new Set(waiting.map((rule) => rule.source))].join(" and ");
    warnings.push(
      `${sources}: ${waiting.length} allow ${waiting.length === 1 ? "rule does" : "rules do"} not count until you trust this workspace (--trust).`,
    );
  }
  return all.filter((rule) => rule.verdict === "deny");
}

/** The user's files have no say when they lie in a project; whoever put them there should know. */
function reportUserFile(file: string, warnings: string[]): void {
  let fields: string[] = [];
  try {
    const content = readJson(file);
    if (content === undefined) return;
    fields = Object.keys(content);
  } catch {} // it is there; what is wrong with it does not matter
  const shown = fields.length > 0 ? ` (${fields.slice(0, 20).join(", ")})` : "";
  warnings.push(`${file}${shown} is ignored: a project may set permissions only, in cli.json.`);
}

function permissionRules(file: string, content: JsonObject, scope: Rule["scope"], warnings: string[]): Rule[] {
  if (!Object.hasOwn(content, "permissions")) return [];
  const permissions = content["permissions"];
  if (!isObject(permissions))
    throw wrong(file, `"permissions" must be an object with "allow" and "deny", not ${shape(permissions)}`);
  reportMisspelt(file, permissions, permissionFields, warnings, "permissions.");
  return [
    ...denyRules(file, permissions, { verdict: "deny", scope, source: file }),
    ...allowRules(
      file,
      listed(permissions, "allow"),
      { verdict: "allow", scope, source: file },
      warnings,
      "permissions.allow",
    ),
  ];
}

function listed(content: JsonObject, key: string): unknown {
  return Object.hasOwn(content, key) ? content[key] : undefined;
}

function denyRules(file: string, permissions: JsonObject, origin: RuleOrigin): Rule[] {
  const list = listed(permissions, "deny");
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw wrong(file, `"permissions.deny" must be a list of rules, not ${shape(list)}`);
  return list.map((entry: unknown, index) => {
    if (typeof entry !== "string")
      throw wrong(file, `"permissions.deny[${index}]" must be a rule such as "Shell(rm)", not ${shape(entry)}`);
    const parsed = parseRule(entry, origin);
    if ("problem" in parsed) throw wrong(file, `"permissions.deny[${index}]": ${parsed.problem}`);
    return parsed.rule;
  });
}

/** What is wrong in an allow list is left out: less is allowed then, and the user is told. */
function allowRules(
  file: string,
  list: unknown,
  origin: RuleOrigin,
  warnings: string[],
  name: string,
  kind?: "Shell" | "Mcp",
): Rule[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    warnings.push(`${file}: "${name}" must be a list, not ${shape(list)}; it does not count.`);
    return [];
  }
  const rules: Rule[] = [];
  for (const [index, entry] of (list as unknown[]).entries()) {
    if (typeof entry !== "string") {
      warnings.push(`${file}: "${name}[${index}]" must be text, not ${shape(entry)}; it does not count.`);
      continue;
    }
    const parsed = parseRule(kind ? `${kind}(${entry})` : entry, origin);
    if ("problem" in parsed) warnings.push(`${file}: "${name}[${index}]": ${parsed.problem} It does not count.`);
    else rules.push(parsed.rule);
  }
  return rules;
}

/** permissions.json, which the editor shares: lists of commands and of MCP tools. */
function sharedAllowlists(file: string, scope: Rule["scope"], warnings: string[]): Rule[] {
  const content = readJson(file);
  if (content === undefined) return [];
  reportMisspelt(file, content, ["mcpAllowlist", "terminalAllowlist", "autoRun"], warnings);
  const origin: RuleOrigin = { verdict: "allow", scope, source: file };
  return [
    ...allowRules(file, listed(content, "terminalAllowlist"), origin, warnings, "terminalAllowlist", "Shell"),
    ...allowRules(file, listed(content, "mcpAllowlist"), { ...origin, fold: true }, warnings, "mcpAllowlist", "Mcp"),
  ];
}

/** The misspelt keys. Keys that resemble nothing belong to a later version and are kept in silence. */
function reportMisspelt(
  file: string,
  content: JsonObject,
  known: readonly string[],
  warnings: string[],
  path = "",
): string[] {
  const misspelt: string[] = [];
  for (const key of Object.keys(content)) {
    if (known.includes(key)) continue;
    const meant = nearestName(key, known);
    if (meant === undefined) continue;
    misspelt.push(key);
    warnings.push(`${file}: "${path}${key}" is unknown: did you mean "${path}${meant}"?`);
  }
  return misspelt;
}

function modelOf(file: string, model: unknown, warnings: string[]): Settings["model"] {
  if (model === undefined || model === null) return undefined;
  if (typeof model === "string" && model !== "") return { modelId: model, displayName: model };
  const id = isObject(model) ? model["modelId"] : undefined;
  if (typeof id !== "string" || id === "") {
    warnings.push(`${file}: "model" must hold a "modelId"; it does not count.`);
    return undefined;
  }
  const name = (model as JsonObject)["displayName"];
  return { modelId: id, displayName: typeof name === "string" && name !== "" ? name : id };
}

function approvalModeOf(file: string, mode: unknown, warnings: string[]): ApprovalMode {
  if (mode === undefined) return "allowlist";
  const known = approvalModes.find((each) => each === mode);
  if (!known) warnings.push(`${file}: "approvalMode" must be one of ${approvalModes.join(", ")}; "allowlist" holds.`);
  return known ?? "allowlist";
}

function vimModeOf(file: string, editor: unknown, warnings: string[]): boolean {
  const value = isObject(editor) ? editor["vimMode"] : undefined;
  if (value !== undefined && typeof value !== "boolean")
    warnings.push(`${file}: "editor.vimMode" must be true or false; it does not count.`);
  return value === true;
}

function wrong(file: string, why: string): UserError {
  return new UserError(
    "CONFIG_INVALID",
    `${file}: ${why}. Correct it: a deny rule that cannot be understood would protect nothing.`,
  );
}

function shape(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}
