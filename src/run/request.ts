// Checks a RunRequest that may come from anywhere: a queue, another process, a test. What is wrong is named by its field.
import { isAbsolute } from "node:path";
import { isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { profileNames } from "../protocol/profiles.ts";
import type { RunRequest } from "../protocol/run.ts";
import { nearestName } from "../text/nearest.ts";

/** Says what the value must be; undefined: it is that. */
type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === "string" ? undefined : "must be a string");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const path: Check = (value) =>
  typeof value === "string" && isAbsolute(value) ? undefined : "must be an absolute path";
const positive: Check = (value) => (typeof value === "number" && value > 0 ? undefined : "must be a positive number");
const anything: Check = () => undefined;

const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string) ? undefined : `must be one of ${values.join(", ")}`;

const listOf =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) ? value.map(item).find((fault) => fault !== undefined) : "must be a list";

const either =
  (...checks: readonly Check[]): Check =>
  (value) => {
    const faults = checks.map((check) => check(value));
    return faults.includes(undefined) ? undefined : faults.join(", or ");
  };

const fields =
  (table: Readonly<Record<string, Check>>, required: readonly string[] = []): Check =>
  (value) => {
    if (!isObject(value)) return "must be an object";
    const missing = required.find((name) => value[name] === undefined);
    if (missing !== undefined) return `needs "${missing}"`;
    for (const [name, given] of Object.entries(value)) {
      if (given === undefined) continue;
      const check = Object.hasOwn(table, name) ? table[name] : undefined;
      if (!check) {
        const near = nearestName(name, Object.keys(table));
        return `has an unknown field "${name}"${near ? ` (did you mean "${near}"?)` : ""}`;
      }
      const fault = check(given);
      if (fault !== undefined) return `"${name}" ${fault}`;
    }
    return undefined;
  };

const chat = either(
  fields({ type: oneOf("new"), id: text }, ["type"]),
  fields({ type: oneOf("resume"), id: text, orNew: flag, fork: flag, newId: text }, ["type", "id"]),
);

const table: Readonly<Record<keyof RunRequest, Check>> = {
  workspace: path,
  worktree: fields({ name: text, base: text, skipSetup: flag }),
  roots: listOf(path),
  chat,
  unkept: flag,
  mode: oneOf("plan", "ask", "agent"),
  force: flag,
  trust: flag,
  model: text,
  effort: oneOf("low", "medium", "high"),
  fallbackModels: listOf(text),
  endpoint: text,
  systemPrompt: text,
  appendSystemPrompt: text,
  allowedTools: listOf(text),
  disallowedTools: listOf(text),
  browser: flag,
  mcpConfigs: listOf(text),
  approvedServers: either(oneOf("all"), listOf(text)),
  approvedServerCalls: oneOf("allow", "ask"),
  pluginDirs: listOf(path),
  hooks: listOf(text),
  sandbox: oneOf("enabled", "disabled"),
  unlistedCommands: oneOf("sandbox", "ask"),
  autoReview: flag,
  askCommand: text,
  limits: fields({ maxTurns: positive, maxTimeMs: positive, maxCost: positive }),
  answerSchema: anything,
  compat: oneOf(...profileNames),
};

const check = fields(table, ["workspace"]);

export function checkRequest(value: unknown): RunRequest {
  const fault = check(value);
  if (fault !== undefined) throw new UserError("USAGE", `The run request ${fault}.`);
  return value as RunRequest;
}
