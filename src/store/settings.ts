// Loads the settings from all configuration files.
import { join } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import { list } from "../text/words.ts";
import { authFile } from "./auth.ts";
import { type CourserSettings, readCourserSettings } from "./courser-settings.ts";
import { readJson } from "./json-file.ts";
import { mcpLoginFile } from "./mcp-paths.ts";
import { type AutoRun, cliConfigFile, isRuleInForce, readRuleFiles, reportMisspelt, rulesIn } from "./rule-files.ts";
import { fleetServices, serviceFile } from "./service-file.ts";

export type ApprovalMode = "allowlist" | "auto-review" | "unrestricted";

export type Settings = {
  model?: { modelId: string; displayName: string };
  /** Deny rules of every file; allow rules of the user, and of the project if it is trusted. */
  rules: Rule[];
  warnings: string[];
  approvalMode: ApprovalMode;
  /** The user's instructions for the model that reviews calls in `auto-review` mode. */
  autoRun: AutoRun;
  vimMode: boolean;
  courser: CourserSettings;
  /** The content of cli-config.json, including fields of later versions. */
  raw: JsonObject;
};

export type SettingsContext = {
  configDir: string;
  workspace: string;
  trusted: boolean;
};

/** Fields of cli-config.json, to distinguish a misspelling from a field of a later version. */
const knownFields = list(`
  version permissions editor channel model maxMode hasChangedDefaultModel notifications hints rewind suggestNextPrompt
  display approvalMode autoAcceptWebSearch sandbox network attribution statusLine privacyCache authInfo
  serverConfigCache`);
const approvalModes: readonly ApprovalMode[] = ["allowlist", "auto-review", "unrestricted"];

/** Reads only these files: a project's `.env` and its endpoints never count. */
export function loadSettings({ configDir, workspace, trusted }: SettingsContext): Settings {
  const warnings: string[] = [];
  const file = cliConfigFile(configDir);
  const raw = readJson(file) ?? {};
  reportMisspelt(file, raw, knownFields, warnings);
  const permissions = readRuleFiles({ configDir, workspace, trusted, cliConfig: raw });
  warnings.push(...permissions.warnings);
  const rules = rulesIn(permissions.entries, warnings);
  const waiting = rules.filter((rule) => !isRuleInForce(rule, trusted));
  if (waiting.length > 0) warnings.push(untrustedWarning(waiting));
  const model = modelOf(file, raw["model"], warnings);
  return {
    ...(model && { model }),
    rules: rules.filter((rule) => isRuleInForce(rule, trusted)),
    warnings,
    approvalMode: approvalModeOf(file, raw["approvalMode"], warnings),
    autoRun: permissions.autoRun,
    vimMode: vimModeOf(file, raw["editor"], warnings),
    courser: readCourserSettings(join(configDir, "courser.json"), warnings),
    raw,
  };
}

/** Returns the deny rules of the checkout behind a worktree, where they may be uncommitted. */
export function projectDenyRules(configDir: string, workspace: string): Rule[] {
  return denyRules(configDir, workspace).filter(({ scope }) => scope === "project");
}

/** Returns the deny rules of the user and of the project. */
export function denyRules(configDir: string, workspace: string): Rule[] {
  const { entries } = readRuleFiles({ configDir, workspace, trusted: false });
  return rulesIn(entries, []).filter(({ verdict }) => verdict === "deny");
}

/**
 * Denies the agent access to saved keys, and to the token with which it could answer its own questions. They are ordinary rules,
 * so that every tool and every explanation knows them.
 */
export function builtInRules(configDir: string): Rule[] {
  const services = join(fleetServices(configDir), "**");
  return [authFile(configDir), mcpLoginFile(configDir), serviceFile(configDir), services].map((file) => ({
    verdict: "deny",
    kind: "Read",
    pattern: file,
    text: `Read(${file})`,
    scope: "user",
    source: "built in",
    withFolders: true,
  }));
}

function untrustedWarning(waiting: readonly Rule[]): string {
  const sources = [...new Set(waiting.map((rule) => rule.source))].join(" and ");
  return `${sources}: ${waiting.length} allow ${waiting.length === 1 ? "rule is" : "rules are"} ignored until you trust this workspace (--trust).`;
}

function modelOf(file: string, model: unknown, warnings: string[]): Settings["model"] {
  if (model === undefined || model === null) return undefined;
  if (typeof model === "string" && model !== "") return { modelId: model, displayName: model };
  const id = isObject(model) ? model["modelId"] : undefined;
  if (typeof id !== "string" || id === "") {
    warnings.push(`${file}: "model" must contain a "modelId"; it is ignored.`);
    return undefined;
  }
  const name = (model as JsonObject)["displayName"];
  return { modelId: id, displayName: typeof name === "string" && name !== "" ? name : id };
}

function approvalModeOf(file: string, mode: unknown, warnings: string[]): ApprovalMode {
  if (mode === undefined) return "allowlist";
  const existing = approvalModes.find((each) => each === mode);
  if (!existing)
    warnings.push(`${file}: "approvalMode" must be one of ${approvalModes.join(", ")}; "allowlist" is used.`);
  return existing ?? "allowlist";
}

function vimModeOf(file: string, editor: unknown, warnings: string[]): boolean {
  const value = isObject(editor) ? editor["vimMode"] : undefined;
  if (value !== undefined && typeof value !== "boolean")
    warnings.push(`${file}: "editor.vimMode" must be true or false; it is ignored.`);
  return value === true;
}
