// Reading what an agent CLI has written, without running one: lines of stream-json, answers with JSON in them.

export type * from "../../protocol/cursor-lines.ts";
export type * from "../../protocol/tool-shapes.ts";
export * from "../guards.ts";
export { extractJSON } from "../structured.ts";
export { extractToolArgs, extractToolResult, hasError, normalizeToolName } from "./calls.ts";
export { parseCursorEvent } from "./parse.ts";
