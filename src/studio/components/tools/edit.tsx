// EditTool and WriteTool: what a call changed in a file, or tried to change.
import { fieldsOf, type JsonObject, stringOrEmpty } from "../../../json/object.ts";
import { viewOfCall } from "../../../view/call-view.ts";
import { counted } from "../../../view/numbers.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { Counts } from "../counts.tsx";
import { Diff } from "../diff.tsx";
import { languageForPath } from "../text/code.tsx";

/** The number of lines above which a change is folded at first. */
const maxOpenLines = 60;
const maxOpenText = 8000;

/** Shows an edit. */
export function EditTool(props: ToolProps) {
  const { call } = props;
  const diff = withNumbers(viewOfCall(call, call.outcome, "").diff, fieldsOf(call.args));
  const { linesAdded, linesRemoved, linesCreated } = fieldsOf(call.outcome?.value);
  const isSmall = diff !== undefined && diff.length <= maxOpenText && diff.split("\n").length <= maxOpenLines;
  const state = stateOf(call);
  return (
    <Card
      {...props}
      opensByItself={isSmall && state !== "refused" && state !== "failed"}
      outcome={
        typeof linesCreated === "number" ? (
          counted(linesCreated, "line")
        ) : (
          <Counts added={linesAdded} removed={linesRemoved} />
        )
      }
    >
      {diff !== undefined && <Diff diff={diff} language={languageForPath(stringOrEmpty(fieldsOf(call.args).path))} />}
    </Card>
  );
}

/** Adds line numbers to a whole file, which begins at line 1; the position of a replacement is unknown. */
function withNumbers(diff: string | undefined, { strReplace, multiStrReplace, applyPatch }: JsonObject) {
  if (diff === undefined || strReplace || multiStrReplace || applyPatch) return diff;
  const isWhole = diff
    .replace(/\n$/, "")
    .split("\n")
    .every((line) => line.startsWith("+") && !line.startsWith("+++ "));
  return isWhole ? `@@ -0,0 +1 @@\n${diff}` : diff;
}

/** Shows a file that was written, as an edit that removes nothing. */
export function WriteTool(props: ToolProps) {
  return <EditTool {...props} />;
}
