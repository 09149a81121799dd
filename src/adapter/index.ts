// Package entry `./adapter`: agent CLIs as models, behind the turn contract.
export { type ErrorCode, UserError } from "../protocol/error-codes.ts";
export type {
  KnownTool,
  Turn,
  TurnCall,
  TurnEvent as ContractEvent,
  TurnMessage,
  TurnTool,
} from "../protocol/turn-contract.ts";
export { supportedVersions } from "../protocol/turn-contract.ts";
export {
  type AdapterOptions,
  CursorAgentModelAdapter,
  type Session,
  type TurnRequest,
} from "./adapter.ts";
export type { Attempt } from "./attempt.ts";
export { type AdapterConfig, type AdapterModel, loadConfig, type ProfileEntry } from "./config.ts";
export { type FailureKind, failureKind } from "./failure.ts";
export {
  type RuntimeEvent,
  type RuntimeRequest,
  type RuntimeTurn,
  runTurn,
  type ToolResultEvent,
  type TurnResult,
} from "./run-turn.ts";
export { createExecTool, type ExecOptions } from "./tools/exec.ts";
export {
  type AdapterTool,
  createToolRouter,
  type ToolContext,
  type ToolOutput,
  type ToolRouter,
} from "./tools/router.ts";
export { createWebFetchTool, createWebSearchTool, type WebFetchOptions, type WebSearchOptions } from "./tools/web.ts";
export type { SentTurn } from "./turn-attempts.ts";
