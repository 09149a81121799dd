// Builds a tool call from wire shapes, for programs that have those instead of events.
import { outcomeOf } from "../../protocol/tool-calls.ts";
import type { ToolShapes } from "../../protocol/tool-shapes.ts";
import type { ToolCall } from "./timeline/blocks.ts";

/** The name of a tool, as in the stream but without `ToolCall`: `read`, `shell`, … */
export type ToolName = keyof ToolShapes extends `${infer Name}ToolCall` ? Name : never;

type Shape<Name extends ToolName> = Pick<ToolShapes[`${Name}ToolCall`], "args"> & {
  result?: ToolShapes[`${Name}ToolCall`]["result"] | undefined;
};

/** Creates a tool call for a component. Without a result, it is running. */
export function toolCall<Name extends ToolName>(
  tool: Name,
  shape: Shape<Name>,
  more: Partial<Omit<ToolCall, "tool" | "args" | "outcome">> = {},
): ToolCall {
  const outcome = outcomeOf(shape.result);
  const { callId = tool } = more;
  return { ...{ callId, tool, args: shape.args }, ...(outcome ? { outcome } : { isRunning: true }), ...more };
}
