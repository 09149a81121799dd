// Describes a tool call in one line: the tool and its target.
import type { AgentEvent } from "../protocol/event.ts";
import { visible } from "../text/visible.ts";
import { list } from "../text/words.ts";

type Start = Extract<AgentEvent, { type: "tool_start" }>;

/** The first of these arguments that a call has describes it. */
const telling = list(
  "command pattern globPattern path targetDirectory taskId url searchTerm query name title description",
);

export function callLine({ tool, args }: Start, workspace: string): string {
  const given = args as Record<string, unknown>;
  const key = telling.find((each) => typeof given[each] === "string" && given[each] !== "");
  const what = key === undefined ? (given["todos"] ? "the list" : "") : String(given[key]);
  return `· ${tool} ${visible(what.replaceAll(`${workspace}/`, ""))}`;
}
