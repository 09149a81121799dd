// tool: a function of this program that an agent may call, given to its CLI as a tool of an MCP server.
import type { AnswerSchema, DataOf, JsonSchema } from "../structured.ts";

export type ToolContext = {
  /** Aborted when the run ends or the CLI gives the call up. */
  signal: AbortSignal;
};

/** Text, or pictures; anything else is told to the model as JSON. */
export type ToolContent = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

export interface InProcessTool {
  readonly name: string;
  readonly description: string;
  readonly schema: AnswerSchema;
  /** What the model is told of it, for libraries that cannot say it as JSON Schema themselves. */
  readonly jsonSchema?: JsonSchema | undefined;
  run(input: any, context: ToolContext): unknown;
}

/** `schema`: of its input, as of an answer. What `run` throws is told to the model. */
export function tool<const Schema extends AnswerSchema>(given: {
  name: string;
  description?: string;
  schema: Schema;
  jsonSchema?: JsonSchema | undefined;
  run(input: DataOf<Schema>, context: ToolContext): unknown;
}): InProcessTool {
  return { description: "", ...given };
}
