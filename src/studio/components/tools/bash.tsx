// BashTool: a command with its output, live and final, in its own colours; its exit code and its time.
import { fieldsOf, stringOrEmpty } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { Copy } from "../copy.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Code } from "../text/code.tsx";

/** How many lines of output a closed card shows. */
const peeked = 3;
const peekedOfFailure = 12;

/** Shows a command. */
export function BashTool(props: ToolProps) {
  const { call } = props;
  const { command } = fieldsOf(call.args);
  const value = fieldsOf(call.outcome?.value);
  const state = stateOf(call);
  const output = call.outcome ? printedIn(value) : (call.output ?? "");
  const hasOutput = output.trim() !== "";
  // Show more of a command that waits for permission, however narrow the page is.
  const mostInHead = state === "waiting" ? 60 : 100;
  const isLong = /\n/.test(stringOrEmpty(command).trim()) || stringOrEmpty(command).length > mostInHead;
  const description = call.description ?? stringOrEmpty(fieldsOf(call.args).description);
  const lines = state === "failed" ? peekedOfFailure : peeked;
  return (
    <Card
      {...props}
      opensByItself={isLong && state === "waiting"}
      showsReason={state === "failed" && hasOutput}
      peek={hasOutput && <Ansi text={output} last={lines} />}
    >
      {description !== "" && <p class="cr-note">{documentText(description)}</p>}
      {isLong && (
        <div class="cr-printed">
          <Code text={stringOrEmpty(command)} language="bash" />
          <Copy text={stringOrEmpty(command)} label="Copy the command" />
        </div>
      )}
      {hasOutput && (
        <div class="cr-printed">
          <Ansi text={output} />
          <Copy text={output} label="Copy the output" />
        </div>
      )}
      {stringOrEmpty(value.signal) !== "" && (
        <p class="cr-note">Ended by {documentText(stringOrEmpty(value.signal))}.</p>
      )}
    </Card>
  );
}

function printedIn({ interleavedOutput, stdout, stderr }: Record<string, unknown>): string {
  return (
    stringOrEmpty(interleavedOutput) ||
    [stringOrEmpty(stdout), stringOrEmpty(stderr)].filter((each) => each !== "").join("\n")
  );
}
