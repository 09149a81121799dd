// Package entry `./hooks`: one hook script for Cursor, Claude Code, Codex, Gemini CLI and Courser.
export {
  type AnswerField,
  type AnswerLoss,
  answerFields,
  type HookAnswer,
  type HookDecision,
  type HookReply,
} from "./answer.ts";
export {
  type BridgeEvent,
  type BridgeEventOf,
  commonHookNames,
  furtherHookNames,
  type HookName,
  type HookTool,
  type HostName,
  hookNames,
  hostNames,
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
export { gemini } from "./hosts/gemini.ts";
export { detectHost, hosts } from "./hosts/index.ts";
export type { PayloadSource } from "./payload.ts";
export { defineHook, type HookHandlers, type RunOptions, run } from "./run.ts";
