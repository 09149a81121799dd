// Describes a tool call in one line: the tool and its target.
import type { EventOf } from "../protocol/event.ts";
import { callName } from "../protocol/tool-calls.ts";
import { visible } from "../text/visible.ts";
import { list } from "../text/words.ts";

/** Arguments that describe a tool call, in order of preference: the first one that the call has is shown. */
const describing = list(
  "command pattern globPattern path targetDirectory taskId url searchTerm query name title description",
);

/** `name`: the SDK's, of a run of another agent, which may know a new file from a change before the call has a result. */
export function callLine({ tool, args, name }: EventOf<"tool_start"> & { name?: string }, workspace: string): string {
  const given = args as Record<string, unknown>;
  const key = describing.find((each) => typeof given[each] === "string" && given[each] !== "");
  const what = key === undefined ? (given["todos"] ? "the list" : "") : String(given[key]);
  const shown = tool === "edit" && name !== undefined ? name : callName(tool, args);
  return `· ${shown} ${visible(what.replaceAll(`${workspace}/`, ""))}`;
}
