// ReadTool: the lines of a file that were read, numbered and highlighted.
import { fieldsOf, isObject, stringOrEmpty } from "../../../json/object.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Code, languageForPath } from "../text/code.tsx";

/** Shows a file that was read. */
export function ReadTool(props: ToolProps) {
  const { path, offset } = fieldsOf(props.call.args);
  const { content, readRange, isEmpty } = fieldsOf(props.call.outcome?.value);
  const first = isObject(readRange) && typeof readRange.startLine === "number" ? readRange.startLine : offset;
  const text = stringOrEmpty(content);
  // If the file is a picture, its text is only the type in brackets.
  const picture = /^\[(image\/[^\]]+)\]$/.exec(text)?.[1];
  return (
    <Card {...props} {...(picture && { outcome: picture })}>
      {text !== "" && !picture && (
        <Code
          text={text}
          language={languageForPath(stringOrEmpty(path))}
          start={typeof first === "number" ? first : 1}
        />
      )}
      {isEmpty === true && <p class="cr-note">The file is empty.</p>}
    </Card>
  );
}
