// What an edit would change, for the person who is asked about it: the tool itself runs, and writes nothing.
import { isObject } from "../json/object.ts";
import type { Decision } from "../policy/need.ts";
import type { Agent } from "./agent.ts";
import type { Prepared } from "./prepare-call.ts";

/** A unified diff. Undefined for other tools, and where the edit would fail: then there is nothing to show but the call. */
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
