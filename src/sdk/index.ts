// Package entry `.`: drives Courser's and other agent CLIs through one API.

export { FrameError } from "../json/frame-error.ts";
export type { ErrorCode } from "../protocol/error-codes.ts";
export { UserError } from "../protocol/error-codes.ts";
export type { AgentEvent, Denial, Outcome, Usage } from "../protocol/event.ts";
export type {
  Answer,
  ContextUse,
  Human,
  LiveRun,
  PermissionMode as LiveMode,
  Prompt,
  Question,
  ReasoningEffort,
  Recorded,
  Sent,
  TurnEnding,
} from "../protocol/run.ts";
export type {
  CallbackAnswer,
  CallRequest,
  CanUseTool,
  HookCallbacks,
  PermissionAnswer,
} from "./callbacks/hook-callbacks.ts";
export { type InProcessTool, type ToolContent, type ToolContext, tool } from "./callbacks/tool.ts";
export * from "./cursor/index.ts";
export { type DetectedCli, detectCli, detectCursorCli, getCapabilities, listModels } from "./detect.ts";
export type { AgentStream } from "./drivers/agent-stream.ts";
export { type AgentDefinition, defineAgent, type LineReader, type LineRole } from "./drivers/define-agent.ts";
export type {
  Ability,
  AgentDriver,
  Budget,
  Capabilities,
  DriverCommand,
  DriverRequest,
  McpServer,
  ModelEntry,
  PermissionMode,
  PermissionRules,
  RunLoss,
  Subagent,
  WorkMode,
} from "./drivers/driver.ts";
export {
  type CursorExecuteOptions,
  type CursorExecuteResult,
  type ExecuteCallbacks,
  type ExecuteOptions,
  type ExecuteResult,
  execute,
  executeCursor,
  executeCursorStreaming,
  type UnifiedToolUse,
} from "./execute.ts";
export { openLive } from "./live/open-live.ts";
export type { LiveEnd, LiveEvent, LiveOptions, LiveSession } from "./live/session.ts";
export {
  type RunDenial,
  type RunDetails,
  RunError,
  type RunFailure,
  type RunOutcome,
  type RunResult,
  type RunSuccess,
} from "./outcome.ts";
export { rebuildLines } from "./rebuild-lines.ts";
export { type FollowUp, type Run, type RunSession, type StartOptions, start } from "./run.ts";
export {
  type CallEvent,
  isCall,
  type OtherToolName,
  type RunEvent,
  type ToolArgs,
  type ToolEndEvent,
  type ToolName,
  type ToolOutcome,
  type ToolStartEvent,
} from "./run-event.ts";
export { deleteSession, forkSession, type RenameSessionOptions, renameSession } from "./sessions/edit-session.ts";
export {
  type ListSessionsOptions,
  type LoadSessionOptions,
  listSessions,
  loadCursorSession,
  loadMessages,
  loadSession,
  type SearchSessionsOptions,
  type SessionHit,
  type SessionInfo,
  searchSessions,
} from "./sessions/library.ts";
export type { Loss, LossKind, ReadSession } from "./sessions/session.ts";
export type { AnswerSchema, DataOf, JsonSchema, StandardSchema } from "./structured.ts";
export type {
  BuiltInTool,
  UnifiedContent,
  UnifiedImageBlock,
  UnifiedMessage,
  UnifiedTextBlock,
  UnifiedThinkingBlock,
  UnifiedTool,
  UnifiedToolResultBlock,
  UnifiedToolUseBlock,
  UnifiedUsage,
} from "./unified.ts";
