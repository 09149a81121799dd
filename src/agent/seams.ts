// Seams: what an agent takes from its surroundings besides models and files, injected so that a
// recording, a test or an editor can replace it.
import { randomUuid } from "../store/chats/random-uuid.ts";
import type { Tool, ToolContext, ToolResult } from "./tools/tool.ts";

export type Seams = {
  /** Returns the current time in milliseconds since 1970. */
  now(): number;
  newId(): string;
  /** Runs a permitted call. Throws what the tool throws. */
  runTool(tool: Tool, args: unknown, context: ToolContext): Promise<ToolResult>;
  /** Unsaved text of files that are open in an editor. */
  buffers?: OpenBuffers;
};

/** Resolve to undefined or false when the file is not open in the editor. */
export type OpenBuffers = {
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<boolean>;
};

export const realSeams: Seams = {
  now: Date.now,
  newId: randomUuid,
  runTool: (tool, args, context) => tool.run(args, context),
};
