// Reads the permission files entry by entry. Anything that cannot be understood and could weaken a deny rule stops the run;
// everything else is kept or reported.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { parseRule, type Rule, type RuleOrigin } from "../protocol/permission-rule.ts";
import { nearestName } from "../text/nearest.ts";
import { readJson } from "./json-file.ts";
import { rangesIn } from "./jsonc.ts";

/** An entry of a list, written as a rule: `git` in terminalAllowlist becomes `Shell(git)`. */
export type RuleEntry = RuleOrigin & { text: string };

/** Instructions for the model that reviews calls. */
export type AutoRun = { allow: string[]; block: string[] };

export type RuleFiles = { entries: RuleEntry[]; autoRun: AutoRun; warnings: string[] };

/** `cliConfig` is the content of the user's cli-config.json, if already read. */
type RuleFileInput = { configDir: string; workspace: string; trusted: boolean; cliConfig?: JsonObject };

export function cliConfigFile(configDir: string): string {
  return join(configDir, "cli-config.json");
}

export function projectConfigFile(workspace: string): string {
  return join(workspace, ".cursor", "cli.json");
}

/** Returns the entries of the user's and the project's files, even if the project is not trusted; `isRuleInForce` decides which apply. */
export function readRuleFiles({ configDir, workspace, trusted, cliConfig }: RuleFileInput): RuleFiles {
  const found: RuleFiles = { entries: [], autoRun: { allow: [], block: [] }, warnings: [] };
  const file = cliConfigFile(configDir);
  const content = cliConfig ?? readJson(file) ?? {};
  reportUnplaced(file, content, found.warnings);
  readPermissions(file, content, "user", found);
  readShared(join(configDir, "permissions.json"), { scope: "user", trusted }, found);
  const folder = join(workspace, ".cursor");
  // If the workspace is the home folder, .cursor is the user's own.
  if (folder !== configDir) readProject(folder, { file: projectConfigFile(workspace), trusted }, found);
  return found;
}

/** Returns whether a rule applies: a project may always restrict, but grant something only if the user trusts it. */
export function isRuleInForce({ verdict, scope }: RuleOrigin, trusted: boolean): boolean {
  return trusted || verdict === "deny" || scope === "user";
}

/** Reads a project's file, which may only set permissions. */
function readProject(folder: string, { file, trusted }: { file: string; trusted: boolean }, found: RuleFiles): void {
  const content = readJson(file) ?? {};
  const misspelt = reportMisspelt(file, content, ["permissions"], found.warnings);
  const ignored = Object.keys(content).filter(
    (key) => !["permissions", "version", "$schema", ...misspelt].includes(key),
  );
  if (ignored.length > 0)
    found.warnings.push(`${file}: ${ignored.join(", ")} ignored: a project may only set permissions.`);
  for (const name of ["cli-config.json", "courser.json"]) reportUserFile(join(folder, name), found.warnings);
  readPermissions(file, content, "project", found);
  readShared(join(folder, "permissions.json"), { scope: "project", trusted }, found);
}

/** Warns about user files in a project, where they have no effect. */
function reportUserFile(file: string, warnings: string[]): void {
  let fields: string[] = [];
  try {
    const content = readJson(file);
    if (content === undefined) return;
    fields = Object.keys(content);
  } catch {} // the file exists; its errors are reported elsewhere
  const fieldList = fields.length > 0 ? ` (${fields.slice(0, 20).join(", ")})` : "";
  warnings.push(`${file}${fieldList} is ignored: a project may only set permissions, in cli.json.`);
}

function readPermissions(file: string, content: JsonObject, scope: Rule["scope"], found: RuleFiles): void {
  if (!Object.hasOwn(content, "permissions")) return;
  const permissions = content["permissions"];
  if (!isObject(permissions))
    throw invalidRuleError(
      file,
      `"permissions" must be an object with "allow" and "deny", not ${shapeName(permissions)}`,
    );
  const misspelt = reportMisspelt(file, permissions, ["allow", "deny", "unconfined"], found.warnings, "permissions.");
  // A key like "denied" is probably meant as a guard, so unknown keys are always reported here.
  for (const key of Object.keys(permissions))
    if (!["allow", "deny", "unconfined", ...misspelt].includes(key))
      found.warnings.push(`${file}: "permissions.${key}" is unknown: only "allow" and "deny" count here.`);
  const isOwn = scope === "user" && file.endsWith("cli-config.json");
  if (!isOwn && permissions["unconfined"] !== undefined)
    found.warnings.push(`${file}: "permissions.unconfined" is ignored: only your own cli-config.json can set it.`);
  for (const verdict of isOwn ? (["deny", "allow", "unconfined"] as const) : (["deny", "allow"] as const)) {
    const origin: RuleOrigin = { verdict, scope, source: file, entry: `permissions.${verdict}` };
    readList(permissions[verdict], origin, (entry) => entry, found);
  }
}

/** Reports lists next to "permissions" instead of in it. In a project's file they are reported with everything that is ignored. */
function reportUnplaced(file: string, content: JsonObject, warnings: string[]): void {
  for (const key of ["allow", "deny"])
    if (Object.hasOwn(content, key)) warnings.push(`${file}: "${key}" belongs in "permissions"; here it is ignored.`);
}

/** Reads permissions.json, which is shared with the editor: lists of commands and MCP tools, and instructions for a reviewer. */
function readShared(
  file: string,
  { scope, trusted }: { scope: Rule["scope"]; trusted: boolean },
  found: RuleFiles,
): void {
  const content = readJson(file);
  if (content === undefined) return;
  reportMisspelt(file, content, ["mcpAllowlist", "terminalAllowlist", "autoRun", "permissions"], found.warnings);
  // The editor does not read this, but the file's name suggests it: a deny rule applies wherever it is written.
  reportUnplaced(file, content, found.warnings);
  readPermissions(file, content, scope, found);
  const origin: RuleOrigin = { verdict: "allow", scope, source: file };
  const shell = content["terminalAllowlist"];
  const mcp = content["mcpAllowlist"];
  readList(shell, { ...origin, entry: "terminalAllowlist" }, (entry) => `Shell(${entry})`, found);
  readList(mcp, { ...origin, entry: "mcpAllowlist", fold: true }, (entry) => `Mcp(${entry})`, found);
  readAutoRun(file, content["autoRun"], isRuleInForce(origin, trusted), found);
}

function readAutoRun(file: string, autoRun: unknown, mayWiden: boolean, { autoRun: all, warnings }: RuleFiles): void {
  if (autoRun === undefined) return;
  if (!isObject(autoRun)) {
    warnings.push(`${file}: "autoRun" must be an object, not ${shapeName(autoRun)}; it is ignored.`);
    return;
  }
  reportMisspelt(file, autoRun, ["allow_instructions", "block_instructions"], warnings, "autoRun.");
  const lists = { allow_instructions: mayWiden ? all.allow : [], block_instructions: all.block };
  for (const [key, list] of Object.entries(lists)) {
    const sentences = autoRun[key] ?? [];
    if (!Array.isArray(sentences) || !sentences.every((each) => typeof each === "string"))
      warnings.push(`${file}: "autoRun.${key}" must be a list of sentences; it is ignored.`);
    else list.push(...(sentences as string[]).filter((sentence) => sentence.trim() !== ""));
  }
}

/** Reads a list of rules. An invalid deny list stops the run; invalid entries of an allow list are skipped, which allows less. */
function readList(list: unknown, origin: RuleOrigin, ruleOf: (entry: string) => string, found: RuleFiles): void {
  if (list === undefined) return;
  const { source, entry: name, verdict } = origin;
  if (!Array.isArray(list)) {
    if (verdict === "deny") throw invalidRuleError(source, `"${name}" must be a list of rules, not ${shapeName(list)}`);
    found.warnings.push(`${source}: "${name}" must be a list, not ${shapeName(list)}; it is ignored.`);
    return;
  }
  for (const [index, value] of (list as unknown[]).entries()) {
    const entry = `${name}[${index}]`;
    if (typeof value === "string") found.entries.push({ ...origin, entry, text: ruleOf(value) });
    else if (verdict === "deny")
      throw invalidRuleError(source, `"${entry}" must be a rule such as "Shell(rm)", not ${shapeName(value)}`, entry);
    else found.warnings.push(`${source}: "${entry}" must be a string, not ${shapeName(value)}; it is ignored.`);
  }
}

/** Parses permission rules. Throws for an invalid deny rule; skips invalid allow rules with a warning. */
export function rulesIn(entries: readonly RuleEntry[], warnings: string[]): Rule[] {
  const rules: Rule[] = [];
  for (const { text, ...origin } of entries) {
    const parsed = parseRule(text, origin);
    if ("rule" in parsed) rules.push(parsed.rule);
    else if (origin.verdict === "deny")
      throw invalidRuleError(origin.source, `"${origin.entry}": ${parsed.problem}`, origin.entry);
    else {
      const problem = parsed.problem.replace(/[^?]$/, "$&.");
      warnings.push(`${origin.source}: "${origin.entry}": ${problem} It is ignored.`);
    }
  }
  return rules;
}

/** Returns the misspelt keys. Keys that resemble no known key belong to a later version and are not reported. */
export function reportMisspelt(
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

/** Returns a function that gives the line of an entry, from 1. */
export function entryLines(file: string): (entry: string | undefined) => number | undefined {
  try {
    const text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
    const places = rangesIn(text);
    return (entry) => {
      const place = entry === undefined ? undefined : places.get(entry);
      return place && text.slice(0, place.start).split("\n").length;
    };
  } catch {
    return () => undefined;
  }
}

function invalidRuleError(file: string, why: string, entry?: string): UserError {
  const line = entryLines(file)(entry);
  return new UserError(
    "CONFIG_INVALID",
    `${file}${line === undefined ? "" : `, line ${line}`}: ${why.replace(/[.?]?$/, (end) => end || ".")} Fix it: an invalid deny rule protects nothing.`,
  );
}

function shapeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a string" : `a ${typeof value}`;
}
