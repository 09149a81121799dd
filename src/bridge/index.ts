// Package entry `./hooks`: one hook script for Cursor, Claude Code, Codex and Courser.
export {
  type AnswerField,
  answerFields,
  type Decision,
  type HookAnswer,
  type HookReply,
  type Loss,
} from "./answer.ts";
export {
  type BridgeEvent,
  type BridgeEventOf,
  commonHookNames,
  furtherHookNames,
  type HookName,
  type HostName,
  hookNames,
  hostNames,
  type KnownTool,
  type PermissionRequest,
  type PostToolUse,
  type PostToolUseFailure,
  type PreCompact,
  type PreToolUse,
  type SessionEnd,
  type SessionStart,
  type Stop,
  type SubagentStart,
  type SubagentStop,
  type ToolInputs,
  type UnknownTool,
  type UserPromptSubmit,
} from "./event.ts";
export { BridgeError, type Host, type ParseOptions, type SerializeOptions } from "./host.ts";
export { claude } from "./hosts/claude.ts";
export { codex } from "./hosts/codex.ts";
export { cursor } from "./hosts/cursor.ts";
export { type AskRow, askTable, askTreatment } from "./hosts/cursor-ask.ts";
export { detectHost, hosts } from "./hosts/index.ts";
export type { PayloadSource } from "./payload.ts";
export { defineHook, type HookHandlers, type RunOptions, run } from "./run.ts";
