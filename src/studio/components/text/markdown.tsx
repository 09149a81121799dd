// Renders the model's Markdown as elements: no raw HTML, nothing fetched automatically, and no text left out.
import type { Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { documentText } from "../../../view/document-text.ts";
import { decodeEntities } from "../../../view/entities.ts";
import { markdownTokens, type Token } from "../../../view/markdown-tokens.ts";
import { Copy } from "../copy.tsx";
import { Code } from "./code.tsx";

/** Shows Markdown. */
export function Markdown({ text }: { text: string }) {
  const safeText = documentText(text);
  const tokens = markdownTokens(safeText);
  return (
    <div class="cr-markdown">{tokens && depthOf(tokens) <= maxDepth ? blocks(tokens) : <pre>{safeText}</pre>}</div>
  );
}

/** The nesting depth from which Markdown is shown as source text. */
const maxDepth = 40;

function depthOf(tokens: readonly Token[]): number {
  let deepest = 0;
  for (const token of tokens) {
    const inner = "items" in token ? (token.items as Token[]) : ("tokens" in token && token.tokens) || [];
    deepest = Math.max(deepest, 1 + depthOf(inner as Token[]));
  }
  return deepest;
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, index) => <Block key={index} token={token} />);
}

function Block({ token }: { token: Token }) {
  switch (token.type) {
    case "space":
      return null;
    case "heading": {
      // Use lower heading levels, since the page itself uses the first ones.
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 3)}` as "h4";
      return <Heading>{inline((token as Tokens.Heading).tokens)}</Heading>;
    }
    case "paragraph":
      return <p>{inline((token as Tokens.Paragraph).tokens)}</p>;
    case "text":
      return <>{inlineOf(token as Tokens.Text)}</>;
    case "code":
      return (
        <div class="cr-fenced">
          <Code text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang?.split(/\s/)[0] ?? ""} />
          <Copy text={(token as Tokens.Code).text} label="Copy the code" />
        </div>
      );
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    default:
      return <p>{token.raw.trim()}</p>;
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index} class={item.task ? "cr-task" : undefined}>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {blocks(item.tokens.filter((token) => token.type !== "checkbox"))}
    </li>
  ));
  if (!list.ordered) return <ul dir="auto">{items}</ul>;
  return (
    <ol dir="auto" start={typeof list.start === "number" && list.start !== 1 ? list.start : undefined}>
      {items}
    </ol>
  );
}

function Table({ table }: { table: Tokens.Table }) {
  const sideOf = (index: number) => {
    const side = table.align[index];
    return side === "right" || side === "center" ? `cr-${side}` : undefined;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll wide tables, too.
    <div class="cr-wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} class={sideOf(index)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} class={sideOf(index)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlineOf({ tokens, text }: { tokens?: Token[]; text: string }): ComponentChildren {
  return tokens ? inline(tokens) : escapeInvisible(text);
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Inline key={index} token={token} />);
}

function Inline({ token }: { token: Token }) {
  switch (token.type) {
    case "text":
    case "escape":
      return <>{inlineOf(token as Tokens.Text)}</>;
    case "strong":
      return <strong>{inline((token as Tokens.Strong).tokens)}</strong>;
    case "em":
      return <em>{inline((token as Tokens.Em).tokens)}</em>;
    case "del":
      return <del>{inline((token as Tokens.Del).tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link link={token as Tokens.Link} />;
    case "image":
      return <Picture image={token as Tokens.Image} />;
    default:
      return <>{token.raw}</>;
  }
}

function Link({ link }: { link: Tokens.Link }) {
  // Link only full URLs: `www.x` and `a@b.c` may be names of files or people.
  const isWhole = isAddress(link.href) && (/^https?:/i.test(link.raw) || /^[[<]/.test(link.raw));
  if (!isWhole) return <>{link.raw}</>;
  return (
    <a href={link.href} rel="noreferrer noopener nofollow">
      {withoutPictures(link.tokens)}
    </a>
  );
}

/** Renders the content of a link without images. A badge is an image inside a link, of which the outer link is enough. */
function withoutPictures(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token) => (token.type === "image" ? (token as Tokens.Image).text : inline([token])));
}

/** Shows a link, so that nothing is fetched until the reader asks for it. */
function Picture({ image }: { image: Tokens.Image }) {
  if (!isAddress(image.href)) return <>{image.raw}</>;
  return (
    <a href={image.href} rel="noreferrer noopener nofollow">
      {escapeInvisible(image.text)}
    </a>
  );
}

export function isAddress(href: string): boolean {
  return /^https?:\/\/[^\s"<>]+$/i.test(href);
}

/** Decoded entities may be invisible characters, so escape them. */
function escapeInvisible(text: string): string {
  return documentText(decodeEntities(text));
}
