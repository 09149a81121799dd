// McpTool: the input and output of an MCP server's tool: text, pictures, resources; and the resources that a server lists.
import { fieldsOf, isObject, type JsonObject, objectsIn, stringOrEmpty } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, stateOf, type ToolProps } from "../card.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Json } from "../text/code.tsx";
import { Pictures } from "../text/picture.tsx";

/** Shows a call of an MCP tool. */
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
      showsReason={items.length > 0}
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
  if (isObject(item.text)) return <Answer text={stringOrEmpty(item.text.text)} />;
  if (isObject(item.image))
    return (
      <Pictures pictures={[{ mime: stringOrEmpty(item.image.mimeType), base64: stringOrEmpty(item.image.data) }]} />
    );
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
        <code>{documentText(stringOrEmpty(uri))}</code>
        {[name, mimeType]
          .map(stringOrEmpty)
          .filter(Boolean)
          .map((each) => (
            <span key={each} class="cr-soft">
              {documentText(each)}
            </span>
          ))}
      </p>
      {stringOrEmpty(description) !== "" && <p class="cr-note">{documentText(stringOrEmpty(description))}</p>}
      {stringOrEmpty(text) !== "" && <Ansi text={stringOrEmpty(text)} first={20} />}
    </div>
  );
}
