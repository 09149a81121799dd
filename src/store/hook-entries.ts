// Parses the entries of hook files, in both formats: hooks.json and Claude's settings.json.

import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { type HookEventName, hookEvents, isHookEvent } from "../protocol/hook-events.ts";
import { nearestName } from "../text/nearest.ts";
import { shownValue } from "../text/one-line.ts";
import { entryLines, reportMisspelt } from "./rule-files.ts";

export type HookFormat = "cursor" | "claude";

export type HookEntry = {
  event: HookEventName;
  format: HookFormat;
  /** The position of the entry in the file, for messages: `hooks.stop[0]`. */
  entry: string;
  /** The command that the hook runs. An entry has either a `command` or a `prompt`. */
  command?: string;
  prompt?: string;
  /** The model that answers the prompt; by default that of the run. */
  model?: string;
  timeoutMs?: number;
  /** How many times the hook's follow-up prompts may prolong a run; null for no limit. */
  loopLimit: number | null;
  /** Whether a failing hook blocks the action; undefined if the file does not say. */
  failClosed?: boolean;
  /** The matcher as written; without one, the hook matches everything. */
  matcher?: string;
  /** Names of environment variables that the hook receives although they contain keys. */
  variables?: string[];
};

export type EntryFile = { file: string; content: JsonObject; warnings: string[] };

const defaultLoopLimit = 5;
/** The longest time limit in seconds, close to the limit of Node's timers. */
const longestSeconds = 2_000_000;

const optionNames = ["command", "type", "prompt", "model", "timeout", "loop_limit", "failClosed", "matcher", "env"];

/** Reads `{"version": 1, "hooks": {"stop": [{"command": "…"}]}}`. */
export function readCursorHooks({ file, content, warnings }: EntryFile): HookEntry[] {
  reportMisspelt(file, content, ["version", "hooks"], warnings);
  const found: HookEntry[] = [];
  for (const [name, list] of Object.entries(hooksIn(file, content))) {
    if (!isHookEvent(name)) {
      warnings.push(`${file}: the event "${name}" is unknown: ${adviceOn(name)} Its hooks do not run.`);
      continue;
    }
    for (const [index, options] of requireList(file, `hooks.${name}`, list).entries()) {
      const entry = `hooks.${name}[${index}]`;
      const checked = requireObject(file, entry, options);
      reportMisspelt(file, checked, optionNames, warnings, `${entry}.`);
      const read = readOptions(file, { event: name, format: "cursor", entry, options: checked }, warnings);
      const matcher = matcherOf(file, entry, checked);
      if (read) found.push({ ...read, ...(matcher !== undefined && { matcher }) });
    }
  }
  return found;
}

/**
 * Reads `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}]}}`, among other settings.
 */
export function readClaudeHooks({ file, content, warnings }: EntryFile): HookEntry[] {
  if (content["hooks"] === undefined || content["disableAllHooks"] === true) return [];
  const found: HookEntry[] = [];
  for (const [name, groups] of Object.entries(hooksIn(file, content))) {
    const event = eventOfClaude(name);
    if (!event) {
      const meant = nearestName(name, claudeNames);
      // Claude has events that are not supported here, and later versions add more. "Setup" is one, no misspelt "Stop".
      if (meant && name !== "Setup")
        warnings.push(`${file}: the event "${name}" is unknown: did you mean "${meant}"? Its hooks do not run.`);
      continue;
    }
    for (const [index, group] of requireList(file, `hooks.${name}`, groups).entries()) {
      const place = `hooks.${name}[${index}]`;
      const checked = requireObject(file, place, group);
      const matcher = matcherOf(file, place, checked);
      for (const [inner, options] of requireList(file, `${place}.hooks`, checked["hooks"]).entries()) {
        const entry = `${place}.hooks[${inner}]`;
        const input = { event, format: "claude" as const, entry, options: requireObject(file, entry, options) };
        const read = readOptions(file, input, warnings);
        if (read) found.push({ ...read, ...(matcher !== undefined && { matcher }) });
      }
    }
  }
  return found;
}

type HookEntryInput = { event: HookEventName; format: HookFormat; entry: string; options: JsonObject };

/** Reads the options of a hook. Returns undefined for a type that only Claude Code supports. */
function readOptions(file: string, input: HookEntryInput, warnings: string[]): HookEntry | undefined {
  const { options, entry, ...rest } = input;
  const type = options["type"] ?? "command";
  if (type !== "command" && type !== "prompt") {
    if (rest.format === "cursor")
      throw invalidEntryError(file, `${entry}.type`, `must be "command" or "prompt", not ${shownValue(type)}`);
    warnings.push(`${file}: "${entry}" is of the type ${shownValue(type)}, which is not known here; it does not run.`);
    return undefined;
  }
  const text = textField(file, entry, options, type);
  if (text === undefined) throw invalidEntryError(file, entry, `needs a "${type}"`);
  const model = textField(file, entry, options, "model");
  const seconds = options["timeout"];
  if (seconds !== undefined && !(typeof seconds === "number" && seconds > 0))
    throw invalidEntryError(
      file,
      `${entry}.timeout`,
      `must be a positive number of seconds, not ${shownValue(seconds)}`,
    );
  const failClosed = options["failClosed"];
  if (failClosed !== undefined && typeof failClosed !== "boolean")
    throw invalidEntryError(file, `${entry}.failClosed`, `must be true or false, not ${shownValue(failClosed)}`);
  const variables = options["env"];
  const isName = (name: unknown) => typeof name === "string" && /^\w+$/.test(name);
  if (variables !== undefined && !(Array.isArray(variables) && variables.every(isName)))
    throw invalidEntryError(file, `${entry}.env`, `must be a list of names of variables, not ${shownValue(variables)}`);
  return {
    ...rest,
    entry,
    [type]: text,
    ...(variables !== undefined && { variables: variables as string[] }),
    ...(model !== undefined && { model }),
    ...(seconds !== undefined && { timeoutMs: Math.min(seconds as number, longestSeconds) * 1000 }),
    loopLimit: loopLimitOf(file, input),
    ...(failClosed !== undefined && { failClosed }),
  };
}

function loopLimitOf(file: string, { options, entry, format }: HookEntryInput): number | null {
  const limit = options["loop_limit"];
  if (limit === undefined) return format === "claude" ? null : defaultLoopLimit;
  if (limit === null || (typeof limit === "number" && Number.isSafeInteger(limit) && limit >= 0)) return limit;
  throw invalidEntryError(file, `${entry}.loop_limit`, `must be an integer or null, not ${shownValue(limit)}`);
}

function matcherOf(file: string, entry: string, options: JsonObject): string | undefined {
  const matcher = options["matcher"];
  if (matcher === undefined || matcher === null || matcher === "" || matcher === "*") return undefined;
  if (typeof matcher === "string") return matcher;
  throw invalidEntryError(file, `${entry}.matcher`, `must be a string, not ${shownValue(matcher)}`);
}

function textField(file: string, entry: string, options: JsonObject, key: string): string | undefined {
  const value = options[key];
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim() !== "" && !value.includes("\0")) return value;
  throw invalidEntryError(file, `${entry}.${key}`, "must be a non-empty string");
}

function hooksIn(file: string, content: JsonObject): JsonObject {
  if (content["hooks"] === undefined) return {};
  return requireObject(file, "hooks", content["hooks"]);
}

function requireList(file: string, entry: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw invalidEntryError(file, entry, `must be a list, not ${shownValue(value)}`);
}

function requireObject(file: string, entry: string, value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw invalidEntryError(file, entry, `must be an object, not ${shownValue(value)}`);
}

const eventNames = Object.keys(hookEvents) as HookEventName[];
const claudeNames = eventNames.flatMap((name) => hookEvents[name].claude ?? []);

function eventOfClaude(name: string): HookEventName | undefined {
  return eventNames.find((event) => hookEvents[event].claude === name);
}

function adviceOn(name: string): string {
  const lower = name.toLowerCase();
  const meant =
    nearestName(name, eventNames) ??
    eventOfClaude(name) ??
    eventNames.find((event) => lower.length >= 5 && event.toLowerCase().startsWith(lower)) ??
    eventNames.find((event) => lower.startsWith(event.toLowerCase()));
  return meant ? `did you mean "${meant}"?` : `the events are ${eventNames.join(", ")}.`;
}

function invalidEntryError(file: string, entry: string, why: string): UserError {
  const line = entryLines(file)(entry) ?? entryLines(file)(entry.replace(/\.\w+$/, ""));
  return new UserError(
    "CONFIG_INVALID",
    `${file}${line === undefined ? "" : `, line ${line}`}: "${entry}" ${why}. Fix it: an invalid hook guards nothing.`,
  );
}
