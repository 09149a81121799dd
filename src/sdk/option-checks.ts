// Validates the options of each SDK function.
import {
  anything,
  type Check,
  callback,
  either,
  type FieldTable,
  fields,
  flag,
  listOf,
  milliseconds,
  object,
  oneOf,
  positive,
  signal,
  text,
  words,
} from "../json/checks.ts";
import { isObject, withoutKeys } from "../json/object.ts";
import { type CheckedCall, checkOptions as checkNamedOptions } from "../protocol/check-options.ts";
import { ruleFault } from "../protocol/permission-rule.ts";
import { reasoningEfforts } from "../protocol/run.ts";
import { permissionModes, workModes } from "./drivers/driver.ts";
import { agentNames } from "./drivers/index.ts";
import type { ExecuteCallbacks } from "./execute.ts";
import type { FindOptions } from "./find-cli.ts";
import type { LiveOptions } from "./live/session.ts";
import type { RenameSessionOptions } from "./sessions/edit-session.ts";
import type { LoadSessionOptions, SearchSessionsOptions } from "./sessions/library.ts";
import type { AnyOptions } from "./start-options.ts";

const tool: Check = (value) => oneOf(...agentNames())(value);
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

const agents: Check = (value) => {
  if (!isObject(value)) return "must be an object of subagents by their names";
  for (const [name, agent] of Object.entries(value)) {
    if (!/^[a-zA-Z][\w-]{0,63}$/.test(name))
      return `has a subagent named ${JSON.stringify(name)}: use letters, digits, _ and -`;
    const fault = fields({ description: text, prompt: text, tools: words, model: text }, ["description", "prompt"])(
      agent,
    );
    if (isObject(agent) && Array.isArray(agent.tools) && agent.tools.length === 0)
      return `has a subagent "${name}" without tools: leave "tools" out for all of them`;
    if (fault !== undefined) return `has a subagent "${name}" that ${fault}`;
  }
  return undefined;
};

/** Checks for the options of `start`, and of the functions built on it. */
export const startChecks = {
  prompt: text,
  tool,
  cwd: text,
  model: text,
  effort: oneOf(...reasoningEfforts),
  agents,
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

function without<Table extends FieldTable, Name extends keyof Table & string>(table: Table, ...names: Name[]) {
  return withoutKeys(table, names) as Omit<Table, Name>;
}

export const followUpChecks = without(startChecks, "prompt", "tool", "cwd", "resume", "fork", "executable");

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

/** The options of `start` that `openLive` does not accept. */
export const notLive = [
  "prompt",
  "images",
  "schema",
  "jsonSchema",
  "budget",
  "timeoutMs",
  "partial",
  "keepEvents",
  "resultGraceMs",
  "canUseTool",
] as const;
export const liveChecks = {
  ...without(startChecks, ...notLive),
  human: object,
  attended: flag,
  subagents: flag,
  toolOutput: flag,
  holdCalls: flag,
} satisfies Record<keyof LiveOptions, Check>;

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

export const renameChecks = { ...loadChecks, title: text } satisfies Record<keyof RenameSessionOptions, Check>;

/** Names of options in other SDKs and of flags, with the name of the corresponding option here. */
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
  ["modelReasoningEffort", "effort"],
  ["thinkingLevel", "effort"],
  ["subagents", "agents"],
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

/** Throws a UserError for an unknown option or a value of the wrong type. */
export function checkOptions(caller: string, options: unknown, table: FieldTable, call: CheckedCall = {}): void {
  checkNamedOptions(caller, options, table, { ...call, habits });
}
