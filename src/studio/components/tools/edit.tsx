// EditTool and WriteTool: what a call changed in a file, or wanted to change.
import type { JsonObject } from "../../../json/object.ts";

import { viewOfCall } from "../../../view/call-view.ts";
import { counted } from "../../../view/numbers.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { Diff } from "../diff.tsx";
import { fieldsOf, textOf } from "../fields.ts";
import { languageOf } from "../text/code.tsx";

/** Larger changes are opened by the reader. */
const mostOpenLines = 60;
const mostOpenText = 8000;

export function EditTool(props: ToolProps) {
  const { call } = props;
  const diff = withNumbers(viewOfCall(call, call.outcome, "").diff, fieldsOf(call.args));
  const { linesAdded, linesRemoved, linesCreated } = fieldsOf(call.outcome?.value);
  const isSmall = diff !== undefined && diff.length <= mostOpenText && diff.split("\n").length <= mostOpenLines;
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
      {diff !== undefined && <Diff diff={diff} language={languageOf(textOf(fieldsOf(call.args).path))} />}
    </Card>
  );
}

/** A whole file begins at its first line; a replacement stands somewhere in it. */
function withNumbers(diff: string | undefined, { strReplace, multiStrReplace, applyPatch }: JsonObject) {
  if (diff === undefined || strReplace || multiStrReplace || applyPatch) return diff;
  const isWhole = diff
    .replace(/\n$/, "")
    .split("\n")
    .every((line) => line.startsWith("+") && !line.startsWith("+++ "));
  return isWhole ? `@@ -0,0 +1 @@\n${diff}` : diff;
}

/** A file that was not there before: the same card, with nothing removed. */
export function WriteTool(props: ToolProps) {
  return <EditTool {...props} />;
}

export function Counts({ added, removed }: { added: unknown; removed: unknown }) {
  return (
    <>
      {typeof added === "number" && (added > 0 || !removed) && <span class="cr-good">+{added}</span>}{" "}
      {typeof removed === "number" && removed > 0 && <span class="cr-bad">−{removed}</span>}
    </>
  );
}
