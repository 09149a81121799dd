// Previews an edit for the user who is asked about it: runs the tool itself without writing.
import { isObject } from "../json/object.ts";
import type { Decision } from "../policy/need.ts";
import type { Agent } from "./agent.ts";
import type { Prepared } from "./prepare-call.ts";

/** Returns a unified diff; undefined for other tools and for an edit that would fail. */
export async function previewOf(
  agent: Agent,
  { tool, args }: Prepared,
  { approved, mayRead }: Decision,
  call: { callId: string; signal: AbortSignal },
): Promise<string | undefined> {
  if (tool.wire !== "edit") return undefined;
  const { toolContext } = agent;
  try {
    const { outcome } = await tool.run(args, {
      ...toolContext,
      ...call,
      approved,
      mayRead,
      isPreview: true,
      print() {},
    });
    const diff = isObject(outcome.value) ? outcome.value.diffString : undefined;
    return typeof diff === "string" && diff !== "" ? diff : undefined;
  } catch {
    return undefined;
  }
}
