// The Markdown that models write -> HTML: no HTML of theirs, nothing that is fetched by itself, and no word left out.
import MarkdownIt, { type RendererRule, type Token } from "markdown-it";
import { documentText } from "../view/document-text.ts";
import { escapeHtml } from "./escape-html.ts";

/** How deep lists and quotes go. The parser drops what lies deeper; such a text is shown as it was written. */
const mostDepth = 40;

export function renderMarkdown(text: string): string {
  const tokens = parser.parse(documentText(text), {});
  if (tokens.some((token) => token.level >= mostDepth - 1)) return preformatted(text);
  adapt(tokens);
  return parser.renderer.render(tokens, parser.options, {}).trimEnd();
}

export function preformatted(text: string): string {
  return `<pre><code>${escapeHtml(text)}</code></pre>`;
}

const parser = new MarkdownIt({ html: false, linkify: true });
parser.set({ maxNesting: mostDepth });
// A definition of a link is not shown: `[//]: # (…)` would hide what was said.
parser.disable("reference");
parser.validateLink = (url) => /^https?:\/\//i.test(url);
// Only whole addresses: `main.rs` and `README.md` are files.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

const codeBlock: RendererRule = (tokens, index) => `${preformatted(tokens[index]!.content.replace(/\n$/, ""))}\n`;

Object.assign(parser.renderer.rules, {
  // What a character reference stands for may be one that cannot be seen.
  text: (tokens, index) => escapeHtml(tokens[index]!.content),
  text_special: (tokens, index) => escapeHtml(tokens[index]!.content),
  code_inline: (tokens, index) => `<code>${escapeHtml(tokens[index]!.content)}</code>`,
  fence: codeBlock,
  code_block: codeBlock,
  link_open: (tokens, index) => linkTo(tokens[index]!, "href"),
  image: (tokens, index) => `${linkTo(tokens[index]!, "src")}${escapeHtml(tokens[index]!.content)}</a>`,
  table_open: () => '<div class="wide"><table>\n',
  table_close: () => "</table></div>\n",
} satisfies Record<string, RendererRule>);

function linkTo(token: Token, attribute: string): string {
  return `<a href="${escapeHtml(String(token.attrGet(attribute)))}" rel="noreferrer noopener nofollow">`;
}

/** To the page: its own levels of headings, classes where its policy forbids styles, boxes of tasks. */
function adapt(tokens: Token[]): void {
  for (const [index, token] of tokens.entries()) {
    // The page itself uses the first three levels.
    if (token.type.startsWith("heading_")) token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + 3)}`;
    const [, side] = /^text-align:(center|right)$/.exec(String(token.attrGet("style"))) ?? [];
    if (token.tag === "th" || token.tag === "td") token.attrs = side === undefined ? null : [["class", side]];
    adaptInline(token.children ?? [], tokens[index - 2]?.type === "list_item_open");
  }
}

function adaptInline(tokens: Token[], isItem: boolean): void {
  let isInLink = false;
  for (const token of tokens) {
    if (token.tag === "s") token.tag = "del";
    if (token.tag === "a") isInLink = token.type === "link_open";
    // A badge is a picture in a link; one link is enough.
    if (token.type === "image" && isInLink) token.type = "text";
  }
  const [first] = tokens;
  if (isItem && first?.type === "text")
    first.content = first.content.replace(/^\[([ xX])\] /, (_, box) => (box === " " ? "☐ " : "☑ "));
}
