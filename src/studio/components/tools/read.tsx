// ReadTool: the lines of a file that were read, numbered and highlighted.
import { isObject } from "../../../json/object.ts";
import { Card, type ToolProps } from "../card.tsx";
import { fieldsOf, stringOrEmpty } from "../fields.ts";
import { Code, languageOf } from "../text/code.tsx";

export function ReadTool(props: ToolProps) {
  const { path, offset } = fieldsOf(props.call.args);
  const { content, readRange, isEmpty } = fieldsOf(props.call.outcome?.value);
  const first = isObject(readRange) && typeof readRange.startLine === "number" ? readRange.startLine : offset;
  return (
    <Card {...props}>
      {stringOrEmpty(content) !== "" && (
        <Code
          text={stringOrEmpty(content)}
          language={languageOf(stringOrEmpty(path))}
          start={typeof first === "number" ? first : 1}
        />
      )}
      {isEmpty === true && <p class="cr-note">The file is empty.</p>}
    </Card>
  );
}
