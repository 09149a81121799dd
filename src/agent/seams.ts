// Seams: what an agent takes from the world beside models and files, handed in so that a recording, a test or an editor can
// take its place.
import { randomUuid } from "../store/chats/random-uuid.ts";
import type { Tool, ToolContext, ToolResult } from "./tools/tool.ts";

export type Seams = {
  /** Milliseconds since 1970. */
  now(): number;
  /** A UUID. */
  newId(): string;
  /** Runs a permitted call. Throws what the tool throws. */
  runTool(tool: Tool, args: unknown, context: ToolContext): Promise<ToolResult>;
  /** Files that somebody has open and has not saved. */
  buffers?: OpenBuffers;
};

/** Both answer undefined or false where the file is not open there. */
export type OpenBuffers = {
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<boolean>;
};

export const realSeams: Seams = {
  now: Date.now,
  newId: randomUuid,
  runTool: (tool, args, context) => tool.run(args, context),
};
