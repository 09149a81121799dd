// A call in one line, for people: what is done to what.
import type { AgentEvent } from "../protocol/event.ts";
import { visible } from "../text/visible.ts";
import { list } from "../text/words.ts";

type Start = Extract<AgentEvent, { type: "tool_start" }>;

/** The first of these that a call has says what it is about. */
const telling = list(
  "command pattern globPattern path targetDirectory taskId url searchTerm query name title description",
);

export function callLine({ tool, args }: Start, workspace: string): string {
  const given = args as Record<string, unknown>;
  const key = telling.find((each) => typeof given[each] === "string" && given[each] !== "");
  const what = key === undefined ? (given["todos"] ? "the list" : "") : String(given[key]);
  return `· ${tool} ${visible(what.replaceAll(`${workspace}/`, ""))}`;
}
