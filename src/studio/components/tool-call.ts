// A call, made from the shapes of the wire: for programs that have those and no events.
import { outcomeOf } from "../../protocol/tool-calls.ts";
import type { ToolShapes } from "../../protocol/tool-shapes.ts";
import type { ToolCall } from "./timeline/blocks.ts";

/** `read`, `shell`, …: the keys of the wire without `ToolCall`. */
export type ToolName = keyof ToolShapes extends `${infer Name}ToolCall` ? Name : never;

type Shape<Name extends ToolName> = Pick<ToolShapes[`${Name}ToolCall`], "args"> & {
  result?: ToolShapes[`${Name}ToolCall`]["result"] | undefined;
};

/** Without a result it runs. */
export function toolCall<Name extends ToolName>(
  tool: Name,
  shape: Shape<Name>,
  more: Partial<Omit<ToolCall, "tool" | "args" | "outcome">> = {},
): ToolCall {
  const outcome = outcomeOf(shape.result);
  const { callId = tool } = more;
  return { ...{ callId, tool, args: shape.args }, ...(outcome ? { outcome } : { isRunning: true }), ...more };
}
