// McpTool: what a server's tool was given and answered: text, pictures, resources; and the resources that a server has.
import { isObject, type JsonObject } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { fieldsOf, objectsIn, textOf } from "../fields.ts";
import { Ansi } from "../text/ansi.tsx";
import { Json } from "../text/code.tsx";
import { Pictures } from "../text/picture.tsx";

export function McpTool(props: ToolProps) {
  const { call } = props;
  const { args } = fieldsOf(call.args);
  const { content, resources } = fieldsOf(call.outcome?.value);
  const items = objectsIn(content);
  const hasPicture = items.some((item) => isObject(item.image));
  return (
    <Card
      {...props}
      opensByItself={hasPicture || stateOf(call) === "waiting" || stateOf(call) === "failed"}
      tellsReason={items.length > 0}
    >
      {isObject(args) && Object.keys(args).length > 0 && <Json value={args} />}
      {items.map((item, index) => (
        <Content key={index} item={item} />
      ))}
      {objectsIn(resources).map((resource, index) => (
        <Resource key={index} {...resource} />
      ))}
    </Card>
  );
}

function Content({ item }: { item: JsonObject }) {
  if (isObject(item.text)) return <Answer text={textOf(item.text.text)} />;
  if (isObject(item.image))
    return <Pictures pictures={[{ mime: textOf(item.image.mimeType), base64: textOf(item.image.data) }]} />;
  if (isObject(item.resource)) return <Resource {...item.resource} />;
  return <Json value={item} />;
}

function Answer({ text }: { text: string }) {
  if (/^\s*[[{]/.test(text) && text.length < 50_000) {
    try {
      return <Json value={JSON.parse(text)} />;
    } catch {}
  }
  return text.trim() === "" ? null : <Ansi text={text} first={20} />;
}

function Resource({ uri, name, description, mimeType, text }: JsonObject) {
  return (
    <div class="cr-resource">
      <p>
        <code>{documentText(textOf(uri))}</code>
        {[name, mimeType]
          .map(textOf)
          .filter(Boolean)
          .map((each) => (
            <span key={each} class="cr-soft">
              {documentText(each)}
            </span>
          ))}
      </p>
      {textOf(description) !== "" && <p class="cr-note">{documentText(textOf(description))}</p>}
      {textOf(text) !== "" && <Ansi text={textOf(text)} first={20} />}
    </div>
  );
}
