// GenericTool: a tool that nobody here knows; what went in and what came out, as it is.
import { isObject } from "../../../json/object.ts";
import { viewOfCall } from "../../../view/call-view.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Diff } from "../diff.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Code } from "../text/code.tsx";

export function GenericTool(props: ToolProps) {
  const { call } = props;
  const { input, output, diff } = viewOfCall(call, call.outcome, "");
  const hasArguments = !isObject(call.args) || Object.keys(call.args).length > 0;
  return (
    <Card {...props} opensByItself={diff !== undefined && diff.split("\n").length <= 60}>
      {diff !== undefined ? (
        <Diff diff={diff} />
      ) : (
        input && hasArguments && <Code text={input.text} language={input.language} first={12} />
      )}
      {output &&
        (output.language === "json" ? (
          <Code text={output.text} language="json" first={20} />
        ) : (
          <Ansi text={output.text} first={20} />
        ))}
      {!output && call.output !== undefined && <Ansi text={call.output} first={20} />}
    </Card>
  );
}
