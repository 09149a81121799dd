// GenericTool: the input and output of an unknown tool, unchanged.
import { isObject } from "../../../json/object.ts";
import { viewOfCall } from "../../../view/call-view.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Diff } from "../diff.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Json } from "../text/code.tsx";

/** Shows a call of a tool that has no component of its own. */
export function GenericTool(props: ToolProps) {
  const { call } = props;
  const { output, diff } = viewOfCall(call, call.outcome, "");
  const value = output?.language === "json" ? call.outcome?.value : undefined;
  const isEmpty = isObject(call.args) && Object.keys(call.args).length === 0;
  return (
    <Card {...props} opensByItself={diff !== undefined && diff.split("\n").length <= 60}>
      {diff !== undefined ? <Diff diff={diff} /> : !isEmpty && <Json value={call.args} />}
      {value !== undefined ? <Json value={value} /> : output && <Ansi text={output.text} first={20} />}
      {!output && call.output !== undefined && <Ansi text={call.output} first={20} />}
    </Card>
  );
}
