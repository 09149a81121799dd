// The Markdown that models write -> HTML: the forms they use, in time that grows with the text, and no HTML of theirs.
import { codeSpans } from "./markdown-text.ts";
import { escapeHtml, visible } from "./visible-text.ts";

/** Deeper lists and quotes are shown as plain paragraphs. */
const mostDepth = 8;

export function renderMarkdown(text: string): string {
  return blocks(
    visible(text)
      .replace(/[\ue000-\ue001]/g, "\ufffd")
      .split("\n"),
    0,
  );
}

type Block = { html: string; end: number };
type BlockRule = (lines: readonly string[], at: number, depth: number) => Block | undefined;

const rules: readonly BlockRule[] = [codeBlock, heading, rule, quote, list, table];

function blocks(lines: readonly string[], depth: number): string {
  const html: string[] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at]!.trim() === "") {
      at++;
      continue;
    }
    const block = blockAt(lines, at, depth) ?? paragraph(lines, at, depth);
    html.push(block.html);
    at = block.end;
  }
  return html.join("\n");
}

function blockAt(lines: readonly string[], at: number, depth: number): Block | undefined {
  if (depth > mostDepth) return undefined;
  for (const each of rules) {
    const block = each(lines, at, depth);
    if (block) return block;
  }
  return undefined;
}

function paragraph(lines: readonly string[], at: number, depth: number): Block {
  let end = at + 1;
  while (end < lines.length && lines[end]!.trim() !== "" && !blockAt(lines, end, depth)) end++;
  return {
    html: `<p>${inline(
      lines
        .slice(at, end)
        .map((line) => line.trim())
        .join("\n"),
    )}</p>`,
    end,
  };
}

function codeBlock(lines: readonly string[], at: number): Block | undefined {
  const [, indent = "", fence, info = ""] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(lines[at]!) ?? [];
  if (fence === undefined || (fence.startsWith("`") && info.includes("`"))) return undefined;
  let end = at + 1;
  while (end < lines.length && !isClosing(lines[end]!, fence)) end++;
  const code = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  return { html: preformatted(code.join("\n")), end: end + 1 };
}

function isClosing(line: string, fence: string): boolean {
  const [, closing] = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line) ?? [];
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length;
}

export function preformatted(text: string): string {
  return `<pre><code>${escapeHtml(text)}</code></pre>`;
}

function heading(lines: readonly string[], at: number): Block | undefined {
  const [, marks, text = ""] = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(lines[at]!) ?? [];
  if (marks === undefined) return undefined;
  // The page itself uses the first three levels.
  const level = Math.min(6, marks.length + 3);
  return { html: `<h${level}>${inline(text)}</h${level}>`, end: at + 1 };
}

function rule(lines: readonly string[], at: number): Block | undefined {
  return /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(lines[at]!)
    ? { html: "<hr>", end: at + 1 }
    : undefined;
}

function quote(lines: readonly string[], at: number, depth: number): Block | undefined {
  const mark = /^ {0,3}> ?/;
  let end = at;
  while (end < lines.length && mark.test(lines[end]!)) end++;
  if (end === at) return undefined;
  const inside = lines.slice(at, end).map((line) => line.replace(mark, ""));
  return { html: `<blockquote>${blocks(inside, depth + 1)}</blockquote>`, end };
}

const bullet = /^( {0,7})(?:([-*+])|(\d{1,9})[.)])(?: {1,4}(?=\S)|\s*$)/;

/** Items are gathered until something stands further left than they do. */
function list(lines: readonly string[], at: number, depth: number): Block | undefined {
  const first = bullet.exec(lines[at]!);
  if (!first) return undefined;
  const isOrdered = first[3] !== undefined;
  const left = first[1]!.length;
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end]!;
    const mark = bullet.exec(line);
    const indent = line.length - line.trimStart().length;
    if (mark && mark[1]!.length <= left + 1 && mark[1]!.length >= left) {
      if ((mark[3] !== undefined) !== isOrdered) break;
      items.push([line.slice(mark[0].length)]);
    } else if (line.trim() === "") {
      const next = lines[end + 1];
      const goesOn =
        next !== undefined && (next.length - next.trimStart().length > left + 1 || isItem(next, left, isOrdered));
      if (!goesOn) break;
      items.at(-1)!.push("");
    } else if (indent > left) {
      items.at(-1)!.push(line.slice(Math.min(indent, first[0].length)));
    } else if (items.at(-1)!.at(-1) === "" || rules.some((each) => each !== list && each(lines, end, depth))) {
      break;
    } else {
      items.at(-1)!.push(line);
    }
  }
  const tag = isOrdered ? "ol" : "ul";
  const start = isOrdered && first[3] !== "1" ? ` start="${Number(first[3])}"` : "";
  return {
    html: `<${tag}${start}>${items.map((item) => `<li>${itemHtml(item, depth + 1)}</li>`).join("")}</${tag}>`,
    end,
  };
}

function isItem(line: string, left: number, isOrdered: boolean): boolean {
  const mark = bullet.exec(line);
  return (
    mark !== null && mark[1]!.length >= left && mark[1]!.length <= left + 1 && (mark[3] !== undefined) === isOrdered
  );
}

function itemHtml(lines: readonly string[], depth: number): string {
  const [first = "", ...rest] = lines;
  const [, box, label] = /^\[([ xX])\] (.*)$/.exec(first) ?? [];
  const html = blocks(label === undefined ? lines : [label, ...rest], depth);
  const mark = box === undefined ? "" : `<span class="box">${box === " " ? "☐" : "☑"}</span> `;
  // A line that stands alone needs no paragraph around it.
  const single = /^<p>((?:(?!<\/p>)[\s\S])*)<\/p>$/.exec(html)?.[1];
  return mark + (single ?? html);
}

function table(lines: readonly string[], at: number): Block | undefined {
  const under = lines[at + 1];
  if (under === undefined || !lines[at]!.includes("|")) return undefined;
  if (!under.includes("-") || !/^[\s|:-]+$/.test(under)) return undefined;
  const head = cellsOf(lines[at]!);
  const sides = cellsOf(under).map((cell) => (/^:-+:$/.test(cell) ? "center" : /-:$/.test(cell) ? "right" : ""));
  if (sides.length !== head.length) return undefined;
  let end = at + 2;
  while (end < lines.length && lines[end]!.includes("|") && lines[end]!.trim() !== "") end++;
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${head.map((_, index) => `<${tag}${sides[index] ? ` class="${sides[index]}"` : ""}>${inline(cells[index] ?? "")}</${tag}>`).join("")}</tr>`;
  const body = lines.slice(at + 2, end).map((line) => row(cellsOf(line), "td"));
  return {
    html: `<div class="wide"><table><thead>${row(head, "th")}</thead><tbody>${body.join("")}</tbody></table></div>`,
    end,
  };
}

function cellsOf(line: string): string[] {
  const inside = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Code and links are put aside first, so that no other mark is looked for inside them. */
function inline(text: string): string {
  const aside: string[] = [];
  const keep = (html: string) => `\ue000${aside.push(html) - 1}\ue001`;
  let shown = "";
  let at = 0;
  for (const { start, end, length } of codeSpans(text)) {
    const code = text.slice(start + length, end - length).replace(/^ (.*[^ ].*) $/s, "$1");
    shown += text.slice(at, start) + keep(`<code>${escapeHtml(code)}</code>`);
    at = end;
  }
  shown += text.slice(at);
  return emphasised(escapeHtml(withLinks(shown, keep))).replace(
    /\ue000(\d+)\ue001/g,
    function put(_, index: string): string {
      return (aside[Number(index)] ?? "").replace(/\ue000(\d+)\ue001/g, put);
    },
  );
}

/** Only http and https lead anywhere; nothing is fetched by itself. */
function withLinks(text: string, keep: (html: string) => string): string {
  const pattern =
    /\\([!-/:-@[-`{-~])|!?\[([^[\]]{1,500})\]\((https?:\/\/[^\s()<>]{1,2000})(?: "[^"\n]{0,200}")?\)|<?(https?:\/\/[^\s<>()\ue000"'`]{1,2000}[^\s<>()\ue000"'`.,;:!?*_])>?/g;
  return text.replace(pattern, (_, escaped?: string, label?: string, url?: string, bare?: string) => {
    if (escaped !== undefined) return keep(escapeHtml(escaped));
    const address = escapeHtml(url ?? bare!);
    const shown = label === undefined ? address : emphasised(escapeHtml(label));
    return keep(`<a href="${address}" rel="noreferrer noopener nofollow">${shown}</a>`);
  });
}

/** `html` is escaped text. */
function emphasised(html: string): string {
  return html
    .replace(/\*\*(?=\S)([^*\n]{1,2000})(?<=\S)\*\*/g, "<strong>$1</strong>")
    .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]{1,2000})(?<=\S)\*(?![\w*])/g, "<em>$1</em>")
    .replace(/(?<![\w_])__(?=\S)([^_\n]{1,2000})(?<=\S)__(?![\w_])/g, "<strong>$1</strong>")
    .replace(/(?<![\w_])_(?=\S)([^_\n]{1,2000})(?<=\S)_(?![\w_])/g, "<em>$1</em>")
    .replace(/~~(?=\S)([^~\n]{1,2000})(?<=\S)~~/g, "<del>$1</del>")
    .replaceAll(/ {2,}\n/g, "<br>\n");
}
