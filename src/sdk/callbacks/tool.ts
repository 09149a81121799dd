// tool: defines a function of this process that an agent may call; its CLI gets it as a tool of an MCP server.
import type { AnswerSchema, DataOf, JsonSchema } from "../structured.ts";

/** What `run` of a tool gets besides its input. */
export type ToolContext = {
  /** Aborted when the run ends or the CLI abandons the call. */
  signal: AbortSignal;
};

/** Text or an image that a tool returns. Any other value is sent to the model as JSON. */
export type ToolContent = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** A function of this process that an agent may call. */
export interface InProcessTool {
  readonly name: string;
  readonly description: string;
  readonly schema: AnswerSchema;
  /** `schema` as JSON Schema, for libraries that cannot convert it themselves. */
  readonly jsonSchema?: JsonSchema | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the type of the input is the implementer's to choose
  run(input: any, context: ToolContext): unknown;
}

/** Defines a tool. `schema` describes its input; an error thrown by `run` is reported to the model. */
export function tool<const Schema extends AnswerSchema>(given: {
  name: string;
  description?: string;
  schema: Schema;
  jsonSchema?: JsonSchema | undefined;
  run(input: DataOf<Schema>, context: ToolContext): unknown;
}): InProcessTool {
  return { description: "", ...given };
}
