// What the fields of a RunRequest may be, wherever one comes from.
import { anything, type Check, either, fields, flag, listOf, oneOf, positive, text } from "../json/checks.ts";
import { ruleFault } from "./permission-rule.ts";
import { profileNames } from "./profiles.ts";
import { endpointTypes, failReasons, type RunRequest } from "./run.ts";

const path: Check = (value) =>
  typeof value === "string" && /^([/\\]|[a-z]:[/\\])/i.test(value) ? undefined : "must be an absolute path";
const amount: Check = (value) => (typeof value === "number" && value >= 0 ? undefined : "must be a number from 0 on");

const chat = either(
  fields({ type: oneOf("new"), id: text }, ["type"]),
  fields({ type: oneOf("resume"), id: text, orNew: flag, fork: flag, newId: text }, ["type", "id"]),
);

export const requestChecks: Readonly<Record<keyof RunRequest, Check>> = {
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
  endpointType: oneOf(...endpointTypes),
  systemPrompt: text,
  appendSystemPrompt: text,
  allowedTools: listOf(text),
  disallowedTools: listOf(text),
  permissions: fields({ allow: listOf(ruleFault), deny: listOf(ruleFault) }),
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
  single: flag,
  failOn: listOf(oneOf(...failReasons)),
  requiredServers: listOf(text),
  price: fields({ input: amount, output: amount }, ["input", "output"]),
  limits: fields({ maxTurns: positive, maxTimeMs: positive, maxCost: positive }),
  answerSchema: anything,
  compat: oneOf(...profileNames),
};
