// What may stand in the options of each function: a name that nobody knows, or a value of the wrong kind, is told in one way.
import {
  anything,
  type Check,
  callback,
  either,
  type FieldTable,
  fields,
  flag,
  listOf,
  object,
  oneOf,
  positive,
  text,
} from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { ruleFault } from "../protocol/permission-rule.ts";
import { didYouMean } from "../text/nearest.ts";
import { permissionModes, workModes } from "./drivers/driver.ts";
import { drivers } from "./drivers/index.ts";
import type { ExecuteCallbacks } from "./execute.ts";
import type { FindOptions } from "./find-cli.ts";
import type { LiveOptions } from "./live/session.ts";
import type { LoadSessionOptions, SearchSessionsOptions } from "./sessions/library.ts";
import type { AnyOptions } from "./start-options.ts";

const words = listOf(text);
const tool = oneOf(...Object.keys(drivers));
const milliseconds: Check = (value) =>
  typeof value === "number" && value >= 0 ? undefined : "must be a number of milliseconds";
const signal: Check = (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal");
const servers: Check = (value) => {
  if (!isObject(value)) return "must be an object of servers by their names";
  for (const [name, server] of Object.entries(value)) {
    if (!/^[\w-]{1,64}$/.test(name)) return `has a server named ${JSON.stringify(name)}: use letters, digits, _ and -`;
    const fault = either(
      fields({ command: text, args: words, env: object, cwd: text }, ["command"]),
      fields({ url: text, headers: object }, ["url"]),
    )(server);
    if (fault !== undefined) return `has a server "${name}" that ${fault}`;
  }
  return undefined;
};

/** Of `start`, and of all that ends in a `start`. */
export const startChecks = {
  prompt: text,
  tool,
  cwd: text,
  model: text,
  permissionMode: oneOf(...permissionModes),
  mode: oneOf(...workModes),
  permissions: fields({ allow: listOf(ruleFault), deny: listOf(ruleFault) }),
  sandbox: flag,
  trust: flag,
  allowedTools: words,
  disallowedTools: words,
  addDirs: words,
  mcpServers: servers,
  resume: (value) => (value === true ? undefined : text(value) && "must be the id of a session, or true"),
  fork: flag,
  images: words,
  systemPrompt: text,
  appendSystemPrompt: text,
  schema: (value) => (isObject(value) || typeof value === "function" ? undefined : "must be a schema"),
  jsonSchema: object,
  budget: fields({ turns: positive, tokens: positive, costUsd: positive, timeMs: positive }),
  timeoutMs: milliseconds,
  idleMs: milliseconds,
  signal,
  partial: flag,
  executable: either(text, words),
  extraArgs: words,
  env: object,
  onNoise: oneOf("fail", "skip"),
  keepEvents: flag,
  graceMs: milliseconds,
  resultGraceMs: milliseconds,
  canUseTool: callback,
  hooks: object,
  tools: listOf(fields({ name: text, description: text, schema: anything, jsonSchema: object, run: callback })),
  onStart: callback,
  onStdout: callback,
  onStderr: callback,
} satisfies Record<keyof AnyOptions, Check>;

const {
  prompt: _prompt,
  tool: _tool,
  cwd: _cwd,
  resume: _resume,
  fork: _fork,
  executable: _executable,
  ...followUp
} = startChecks;
export const followUpChecks: FieldTable = followUp;

export const executeChecks = {
  ...startChecks,
  sessionId: text,
  onEvent: callback,
  onMessage: callback,
  onToolUse: callback,
  onToken: callback,
  onError: callback,
  onClose: callback,
  onComplete: callback,
} satisfies Record<keyof AnyOptions | keyof ExecuteCallbacks | "sessionId", Check>;

type LiveOnly = Exclude<keyof LiveOptions, keyof AnyOptions>;
const liveOnly = { human: object, subagents: flag, toolOutput: flag, holdCalls: flag } satisfies Record<
  LiveOnly,
  Check
>;
const notLive = ["prompt", "images", "schema", "jsonSchema", "budget", "timeoutMs", "partial", "keepEvents"] as const;
type NotLive = (typeof notLive)[number] | "resultGraceMs" | "canUseTool";
export const liveChecks = Object.fromEntries(
  [...Object.entries(startChecks), ...Object.entries(liveOnly)].filter(
    ([name]) => ![...notLive, "resultGraceMs", "canUseTool"].includes(name as NotLive),
  ),
) as Record<keyof LiveOptions, Check>;

export const findChecks = {
  executable: either(text, words),
  env: object,
  platform: text,
} satisfies Record<keyof FindOptions, Check>;

export const searchChecks = {
  tool: either(tool, listOf(tool)),
  cwd: text,
  projectPath: text,
  limit: positive,
  env: object,
} satisfies Record<keyof SearchSessionsOptions, Check>;

export const loadChecks = {
  tool,
  sessionId: text,
  cwd: text,
  projectPath: text,
  env: object,
} satisfies Record<keyof LoadSessionOptions, Check>;

/** What people write who know other SDKs, or the flags, and what it is called here. */
const habits: ReadonlyMap<string, string> = new Map([
  ["force", "permissionMode: 'force'"],
  ["yolo", "permissionMode: 'force'"],
  ["approvalMode", "permissionMode"],
  ["approvalPolicy", "permissionMode"],
  ["sandboxMode", "sandbox"],
  ["timeout", "timeoutMs"],
  ["maxTurns", "budget: { turns }"],
  ["maxBudgetUsd", "budget: { costUsd }"],
  ["abortController", "signal"],
  ["sessionId", "resume"],
  ["continue", "resume: true"],
  ["forkSession", "fork"],
  ["outputSchema", "schema"],
  ["outputFormat", "schema"],
  ["workspace", "cwd"],
  ["workingDirectory", "cwd"],
  ["projectPath", "cwd"],
  ["additionalDirectories", "addDirs"],
  ["mcpConfig", "mcpServers"],
  ["includePartialMessages", "partial"],
  ["pathToClaudeCodeExecutable", "executable"],
  ["codexPathOverride", "executable"],
  ["apiKey", "env: { … }, with the variable that the CLI reads"],
]);

type Shown = { example?: string; required?: string };

/** Throws UserError. */
export function checkOptions(caller: string, options: unknown, table: FieldTable, shown: Shown = {}): void {
  const { example = "{ … }", required } = shown;
  if (!isObject(options)) throw misuse(`${caller} takes an object: ${caller}(${example}).`);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!check) throw misuse(`${caller}: unknown option '${name}'.${meant(name, table)}`);
    const fault = check(value);
    if (fault !== undefined) throw misuse(`${caller}: ${name} ${fault}.`);
  }
  if (required !== undefined && options[required] === undefined)
    throw misuse(`${caller} needs ${required}: ${caller}(${example}).`);
}

function meant(name: string, table: FieldTable): string {
  const habit = habits.get(name);
  const [option = ""] = habit?.match(/^\w+/) ?? [];
  if (Object.hasOwn(table, option)) return ` Here it is ${habit}.`;
  return didYouMean(name, Object.keys(table));
}

export function misuse(message: string): UserError {
  return new UserError("USAGE", message);
}
