// Parses the output of agent CLIs without running one: stream-json lines, and answers that contain JSON.

export type * from "../../protocol/cursor-lines.ts";
export type * from "../../protocol/tool-shapes.ts";
export * from "../guards.ts";
export { extractJSON } from "../structured.ts";
export { extractToolArgs, extractToolResult, hasError, normalizeToolName } from "./calls.ts";
export { parseCursorEvent } from "./parse.ts";
