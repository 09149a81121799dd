// The package entry ./protocol: agent events and messages, and their wire formats. Runs in a browser.

export { FrameError } from "../json/frame-error.ts";
export { JsonLines, type JsonLinesOptions } from "../json/lines.ts";
export { type SchemaOptions, valueFault } from "../json/schema.ts";
export { schemaProblem } from "../json/schema-check.ts";
export { defaultMaxLineBytes, type JsonReader, type Take } from "../json/values.ts";
export type * from "./cursor-lines.ts";
export {
  codeNamedIn,
  type ErrorCode,
  errorCodes,
  exitCodeOf,
  explainError,
  faultOf,
  isRetryable,
  resultText,
  UserError,
} from "./error-codes.ts";
export type * from "./event.ts";
export * from "./frames.ts";
export * from "./message.ts";
export { SentinelBlocks } from "./sentinel.ts";
export * from "./stream-json.ts";
export * from "./tool-calls.ts";
export * from "./turn-contract.ts";
