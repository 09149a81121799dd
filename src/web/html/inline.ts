// Converts inline content to Markdown. Appends to one list, so nothing is copied level by level.
import { collapsed } from "../../text/one-line.ts";
import { type Element, isElement } from "./tree.ts";

/** `around` holds the marks of open elements, so that bold inside bold is written once. */
type InlineContext = { base: string; around: ReadonlySet<string> };

export function inlineMarkdown(nodes: readonly (Element | string)[], base: string): string {
  return writeInline(nodes, { base, around: new Set() });
}

class Pieces {
  readonly #parts: string[] = [];
  #endsBlank = false;

  /** Adds text. Runs of blanks are reduced to one, across elements as well. */
  add(text: string): void {
    const piece = this.#endsBlank && text.startsWith(" ") ? text.slice(1) : text;
    if (piece === "") return;
    this.#parts.push(piece);
    this.#endsBlank = piece.endsWith(" ") || piece.endsWith("\n");
  }

  join(): string {
    return this.#parts.join("");
  }
}

function writeInline(nodes: readonly (Element | string)[], writing: InlineContext): string {
  const pieces = new Pieces();
  write(nodes, writing, pieces);
  return pieces.join();
}

function write(nodes: readonly (Element | string)[], writing: InlineContext, pieces: Pieces): void {
  for (const node of nodes) {
    if (!isElement(node)) pieces.add(node.replace(/[\s\u200b]+/g, " "));
    else if (Object.hasOwn(leaves, node.name)) pieces.add(leaves[node.name]!(node, writing));
    else if (Object.hasOwn(wrappers, node.name)) wrap(node, writing, pieces);
    else write(node.children, writing, pieces);
  }
}

type Wrapper = { mark: string; finish(text: string, element: Element, writing: InlineContext): string };

const bold: Wrapper = { mark: "**", finish: (text) => `**${text}**` };
const italic: Wrapper = { mark: "*", finish: (text) => `*${text}*` };

const wrappers: Record<string, Wrapper> = {
  b: bold,
  strong: bold,
  i: italic,
  em: italic,
  del: { mark: "~~", finish: (text) => `~~${text}~~` },
  a: { mark: "[", finish: link },
};

function wrap(element: Element, writing: InlineContext, pieces: Pieces): void {
  const { mark, finish } = wrappers[element.name]!;
  if (writing.around.has(mark)) {
    write(element.children, writing, pieces);
    return;
  }
  const text = writeInline(element.children, { ...writing, around: new Set([...writing.around, mark]) });
  const inner = text.trim();
  if (/^\s/.test(text)) pieces.add(" ");
  if (inner !== "") pieces.add(finish(inner, element, writing));
  if (/\s$/.test(text)) pieces.add(" ");
}

function link(text: string, element: Element, { base }: InlineContext): string {
  // Omit the mark beside a heading that links to the heading itself.
  if (/^(?:#|¶|§|🔗|permalink)$/iu.test(text)) return "";
  const target = absoluteUrl(element.attributes["href"], base);
  return target === undefined ? text : `[${text.replace(/\s*\n\s*/g, " ")}](${target})`;
}

type LeafWriter = (element: Element, writing: InlineContext) => string;

const code: LeafWriter = (element) => inlineCode(plainText(element));

const leaves: Record<string, LeafWriter> = {
  br: () => "\n",
  code,
  tt: code,
  kbd: code,
  samp: code,
  img: image,
  math: (element) => element.attributes["alttext"] ?? plainText(element),
};

function image(element: Element, { base }: InlineContext): string {
  const alt = collapsed(element.attributes["alt"] ?? "");
  const target = absoluteUrl(element.attributes["src"], base);
  return alt === "" || target === undefined ? alt : `![${alt}](${target})`;
}

/** Resolves the address of a link. Returns undefined for one that cannot be opened: a script, data, or an invalid one. */
function absoluteUrl(address: string | undefined, base: string): string | undefined {
  const trimmedAddress = address?.trim();
  if (!trimmedAddress || !URL.canParse(trimmedAddress, base)) return undefined;
  const url = new URL(trimmedAddress, base);
  if (!/^(?:https?|mailto|ftp):$/.test(url.protocol)) return undefined;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}

function inlineCode(text: string): string {
  const inner = text.replace(/\s+/g, " ");
  if (inner.trim() === "") return inner === "" ? "" : " ";
  return inner.includes("`") ? `\`\` ${inner} \`\`` : `\`${inner}\``;
}

/** Returns the text unchanged, including line breaks. */
export function plainText(element: Element): string {
  const parts: string[] = [];
  const visit = (each: Element): void => {
    for (const child of each.children) {
      if (!isElement(child)) parts.push(child);
      else if (child.name === "br") parts.push("\n");
      else visit(child);
    }
  };
  visit(element);
  return parts.join("");
}
