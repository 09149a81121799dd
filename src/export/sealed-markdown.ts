// Makes untrusted Markdown safe to embed: it keeps its formatting but not its HTML, and all its blocks are closed.

import { documentText } from "../view/document-text.ts";
import { codeSpans } from "./markdown-text.ts";

/** Escapes HTML and closes an open code block, since one `<!--` would hide the rest of the page. Keeps what is certainly code. */
export function sealMarkdown(text: string): string {
  const seal = new Seal();
  for (const line of documentText(text).split("\n")) seal.add(line);
  // Keep spaces before the first word, which may be significant.
  return seal
    .end()
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
}

const fenceMark = /^(`{3,}|~{3,})(.*)$/;
const listMark = /^([-*+]|\d{1,9}[.)])(?: +|$)/;
const blockMark = /^(?:#{1,6}(?:\s|$)|>|(?:[-*_][ \t]*){3,}$|=+\s*$|-+\s*$|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$))/;

class Seal {
  readonly #lines: string[] = [];
  /** The fence of the current code block outside lists and quotes. */
  #fence: string | undefined;
  /** The fence of the current code block inside a list or quote. */
  #innerFence: string | undefined;
  /** The column at which the text of the outermost list item begins. Lines further left are not part of the list. */
  #listIndent: number | undefined;
  #afterBlank = true;
  /** True if all backticks since the last blank line are paired: what looks like code is then code, however lines are joined. */
  #isEven = true;

  add(line: string): void {
    const bare = line.trimStart();
    const indent = columnsOf(line.slice(0, line.length - bare.length));
    if (this.#fence !== undefined) {
      this.#lines.push(line);
      if (indent <= 3 && closes(bare, this.#fence)) this.#fence = undefined;
      this.#afterBlank = true;
    } else if (bare === "") {
      this.#lines.push(line);
      this.#afterBlank = true;
      this.#isEven = true;
    } else {
      this.#addText(line, indent, bare);
    }
  }

  end(): string {
    if (this.#fence !== undefined) this.#lines.push(this.#fence);
    return this.#lines.join("\n");
  }

  #addText(line: string, indent: number, bare: string): void {
    const isInList = this.#listIndent !== undefined && indent >= this.#listIndent;
    // Text directly below a list is still part of it.
    const isLazy =
      !this.#afterBlank && this.#innerFence === undefined && !blockMark.test(bare) && opening(bare) === undefined;
    if (!isInList && !isLazy) {
      this.#listIndent = undefined;
      this.#innerFence = undefined;
    }
    this.#afterBlank = false;
    const fence = opening(bare);
    if (fence !== undefined && !isInList && indent <= 3) {
      this.#lines.push(line);
      this.#fence = fence;
      this.#isEven = true;
      return;
    }
    const item = isInList ? null : listMark.exec(bare);
    if (item && indent <= 3) this.#listIndent = indent + Math.min(item[0].length, item[1]!.length + 4);
    this.#addInner(line, bare);
  }

  /** Adds text, or a code block in a list or quote, which ends with its container. */
  #addInner(line: string, bare: string): void {
    const content = bare.replace(/^(?:(?:[-*+]|\d{1,9}[.)])\s+|>\s?)*/, "").trimStart();
    if (this.#innerFence !== undefined) {
      if (closes(content, this.#innerFence)) this.#innerFence = undefined;
      // Escape tags that would do harm if this is not code after all.
      this.#lines.push(line.replace(worstTags, "&lt;"));
      return;
    }
    const isInside = content !== bare || this.#listIndent !== undefined;
    this.#innerFence = isInside ? opening(content) : undefined;
    if (this.#innerFence !== undefined) this.#isEven = false;
    this.#lines.push(
      line
        .split(cellEnds)
        .map((cell) => this.#withoutHtml(cell))
        .join(""),
    );
  }

  /** Escapes tags, but not in code, and not addresses in angle brackets. */
  #withoutHtml(cell: string): string {
    let outside = "";
    let sealedText = "";
    let at = 0;
    for (const { start, end } of codeSpans(cell)) {
      outside += cell.slice(at, start);
      sealedText += escapeTags(cell.slice(at, start)) + cell.slice(start, end);
      at = end;
    }
    outside += cell.slice(at);
    this.#isEven &&= !/(?<!\\)(?:\\\\)*`/.test(outside);
    return this.#isEven ? sealedText + escapeTags(cell.slice(at)) : escapeTags(cell);
  }
}

/** Table cells are parsed one by one, and any line with a bar could be part of a table. */
const cellEnds = /(?<=(?<!\\)\|)/;

/** Returns the width of leading blanks. A tab advances to the next multiple of four. */
function columnsOf(blanks: string): number {
  let columns = 0;
  for (const blank of blanks) columns += blank === "\t" ? 4 - (columns % 4) : 1;
  return columns;
}

function opening(line: string): string | undefined {
  const [, fence, info = ""] = fenceMark.exec(line) ?? [];
  return fence === undefined || (fence.startsWith("`") && info.includes("`")) ? undefined : fence;
}

function closes(line: string, fence: string): boolean {
  const [, closing, rest = ""] = fenceMark.exec(line) ?? [];
  return closing?.startsWith(fence) === true && rest.trim() === "";
}

/** Matches tags that swallow the following text, run code, or load something. */
const worstTags =
  /<(?=[!?]|\/?(?:script|style|textarea|title|xmp|plaintext|iframe|object|embed|svg|math|template|noscript|details|summary|img|video|audio|form|base|link|meta|a)\b)/gi;

function escapeTags(text: string): string {
  return text.replace(/<(?!https?:\/\/[^\s<>`]*>)(?=[A-Za-z/!?])/g, "&lt;");
}
