// BashTool: a command, what it prints while it runs and printed in the end, in its own colours; its exit code and its time.
import { documentText } from "../../../view/document-text.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { Copy } from "../copy.tsx";
import { fieldsOf, textOf } from "../fields.ts";
import { Ansi } from "../text/ansi.tsx";
import { Code } from "../text/code.tsx";

/** Lines that are seen without opening it. */
const peeked = 3;
const peekedOfFailure = 12;

export function BashTool(props: ToolProps) {
  const { call } = props;
  const { command } = fieldsOf(call.args);
  const value = fieldsOf(call.outcome?.value);
  const state = stateOf(call);
  const output = call.outcome ? printedIn(value) : (call.output ?? "");
  const hasOutput = output.trim() !== "";
  const isLong = /\n/.test(textOf(command).trim()) || textOf(command).length > 100;
  const description = call.description ?? textOf(fieldsOf(call.args).description);
  const lines = state === "failed" ? peekedOfFailure : peeked;
  return (
    <Card
      {...props}
      tellsReason={state === "failed" && hasOutput}
      peek={hasOutput && <Ansi text={output} last={lines} />}
    >
      {description !== "" && <p class="cr-note">{documentText(description)}</p>}
      {isLong && (
        <div class="cr-printed">
          <Code text={textOf(command)} language="bash" />
          <Copy text={textOf(command)} label="Copy the command" />
        </div>
      )}
      {hasOutput && (
        <div class="cr-printed">
          <Ansi text={output} />
          <Copy text={output} label="Copy the output" />
        </div>
      )}
      {textOf(value.signal) !== "" && <p class="cr-note">Ended by {documentText(textOf(value.signal))}.</p>}
    </Card>
  );
}

function printedIn({ interleavedOutput, stdout, stderr }: Record<string, unknown>): string {
  return textOf(interleavedOutput) || [textOf(stdout), textOf(stderr)].filter((each) => each !== "").join("\n");
}
