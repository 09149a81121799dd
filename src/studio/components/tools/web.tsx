// WebFetchTool and WebSearchTool: a page with its title and its text; the results of a search.
import { fieldsOf, objectsIn, stringOrEmpty } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, type ToolProps } from "../card.tsx";
import { isAddress, Markdown } from "../text/markdown.tsx";

/** Shows a page that was fetched. */
export function WebFetchTool(props: ToolProps) {
  const url = stringOrEmpty(fieldsOf(props.call.args).url);
  const markdown =
    stringOrEmpty(fieldsOf(props.call.outcome?.value).markdown) ||
    stringOrEmpty(fieldsOf(props.call.outcome?.value).content);
  const title = /^# +(.+)$/m.exec(markdown.slice(0, 2000))?.[1];
  return (
    <Card {...props}>
      {markdown.trim() !== "" && (
        <>
          {title !== undefined && <p class="cr-title">{documentText(title)}</p>}
          <Address url={url} />
          <Markdown text={markdown} />
        </>
      )}
    </Card>
  );
}

/** Shows a search of the web. */
export function WebSearchTool(props: ToolProps) {
  const { references, content } = fieldsOf(props.call.outcome?.value);
  const found = objectsIn(references);
  return (
    <Card {...props}>
      {found.length > 0 && (
        <ul class="cr-hits">
          {found.map(({ title, url, chunk }, index) => (
            <li key={index}>
              <p class="cr-title">{documentText(stringOrEmpty(title))}</p>
              <Address url={stringOrEmpty(url)} />
              <p class="cr-note">{documentText(stringOrEmpty(chunk).slice(0, 400))}</p>
            </li>
          ))}
        </ul>
      )}
      {found.length === 0 && stringOrEmpty(content) !== "" && <Markdown text={stringOrEmpty(content)} />}
    </Card>
  );
}

function Address({ url }: { url: string }) {
  const safeAddress = documentText(url);
  if (!isAddress(url)) return <p class="cr-address">{safeAddress}</p>;
  return (
    <p class="cr-address">
      <a href={url} rel="noreferrer noopener nofollow">
        {safeAddress}
      </a>
    </p>
  );
}
