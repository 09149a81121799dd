// Quotes: what a prompt protects (quoted text, code, JSON, addresses) becomes one character each, so that the grammar cannot trip over it.
import { tryParse } from "../../json/object.ts";

export type Literal = {
  kind: "quote" | "code" | "block" | "json" | "url";
  /** What is inside. */
  text: string;
  /** As it was typed, quotes and all. */
  raw: string;
};

/** `text` holds one character of the private use area for each literal: `\uE000` is the first. */
export type Masked = { text: string; literals: Literal[] };

const FIRST = 0xe000;
const MOST = 0x1000;

const CLOSING: Record<string, string> = { '"': '"', "“": "”", "„": "“", "«": "»", "`": "`", "'": "'", "‘": "’" };

export function mask(prompt: string): Masked {
  const source = prompt.replace(/\r\n?/g, "\n").replace(/[\uE000-\uF8FF]/g, "");
  const literals: Literal[] = [];
  const opens = /[^\u0000-\u007f]/.test(source) ? undefined : /["'`{]|https?:/i;
  if (opens && !opens.test(source)) return { text: source, literals };
  let text = "";
  let at = 0;
  while (at < source.length) {
    const literal = literals.length < MOST ? literalAt(source, at) : undefined;
    if (literal) {
      text += String.fromCharCode(FIRST + literals.length);
      literals.push(literal);
      at += literal.raw.length;
    } else {
      text += source[at];
      at += 1;
    }
  }
  return { text, literals };
}

/** Puts a stretch of the text behind one character, as if it had been quoted. */
export function protect(masked: Masked, start: number, end: number): Masked {
  const raw = restore(masked, masked.text.slice(start, end));
  const mark = String.fromCharCode(FIRST + masked.literals.length);
  return {
    text: masked.text.slice(0, start) + mark + masked.text.slice(end),
    literals: [...masked.literals, { kind: "block", text: raw, raw }],
  };
}

/** The words as they were typed. */
export function restore(masked: Masked, text: string): string {
  return text.replace(/[\uE000-\uF8FF]/g, (mark) => literalOf(masked, mark)?.raw ?? "");
}

/** The words with the quotes taken off. */
export function unquote(masked: Masked, text: string): string {
  return text.replace(/[\uE000-\uF8FF]/g, (mark) => literalOf(masked, mark)?.text ?? "");
}

/** The literal, when the text is one literal and nothing else. */
export function literalOf(masked: Masked, text: string): Literal | undefined {
  const trimmed = text.trim();
  return trimmed.length === 1 ? masked.literals[trimmed.charCodeAt(0) - FIRST] : undefined;
}

function literalAt(source: string, at: number): Literal | undefined {
  const character = source[at]!;
  if (source.startsWith("```", at)) return blockAt(source, at);
  if (character === "{") return jsonAt(source, at);
  if ((character === "h" || character === "H") && /^https?:\/\/[^\s"'`<>]/i.test(source.slice(at, at + 10))) {
    if (/\w/.test(source[at - 1] ?? " ")) return undefined;
    const raw = /^[^\s"'`<>]+/.exec(source.slice(at))![0].replace(/[.,;:!?)\]]+$/, "");
    return { kind: "url", text: raw, raw };
  }
  const name = nameAt(source, at);
  if (name !== undefined) return { kind: "quote", text: name, raw: name };
  const closing = CLOSING[character];
  return closing === undefined ? undefined : quoteAt(source, at, closing);
}

const NAME = () => /^[\p{L}\p{N}_@][\p{L}\p{M}\p{N}_@.+/-]*\.\p{L}[\p{L}\p{N}]{0,9}(?![\p{L}\p{N}_])/u;

/** A file whose name has letters beyond those of English, which is all that the grammar reads: `größe.txt`. */
function nameAt(source: string, at: number): string | undefined {
  if ((at > 0 && !/[\s(,:]/.test(source[at - 1]!)) || !/[^\u0000-\u007f]/.test(source)) return undefined;
  const name = NAME().exec(source.slice(at, at + 300))?.[0];
  return name !== undefined && /[^\u0000-\u007f]/.test(name) ? name : undefined;
}

function blockAt(source: string, at: number): Literal | undefined {
  const end = source.indexOf("```", at + 3);
  if (end < 0) return undefined;
  const inner = source.slice(at + 3, end);
  // The word after the opening fence names a language when a line follows it.
  const text = inner.replace(/^[\w+#.-]*[ \t]*\n/, "");
  return { kind: "block", text, raw: source.slice(at, end + 3) };
}

function quoteAt(source: string, at: number, closing: string): Literal | undefined {
  const opening = source[at]!;
  const single = opening === "'" || opening === "‘";
  // An apostrophe is not a quote: one opens after a gap, and closes before one.
  const gapAfter = single && /\s/.test(source[at + 1] ?? " ");
  if (single && (/[\p{L}\p{N}]/u.test(source[at - 1] ?? " ") || (gapAfter && /\S/.test(source[at - 1] ?? " "))))
    return undefined;
  for (let end = at + 1; end < source.length; end += 1) {
    if (source[end] === "\\" && opening !== "`" && source[end + 1] === closing) {
      end += 1;
      continue;
    }
    if (source[end] !== closing) continue;
    if (single && /[\p{L}\p{N}]/u.test(source[end + 1] ?? " ")) continue;
    // "' x'" begins with a gap on purpose; "a ' b ' c" is not a quote.
    if (gapAfter && /\s/.test(source[end - 1]!)) return undefined;
    const inner = source.slice(at + 1, end);
    const text = opening === "`" ? inner : inner.replaceAll("\\" + closing, closing);
    return { kind: opening === "`" ? "code" : "quote", text, raw: source.slice(at, end + 1) };
  }
  return undefined;
}

function jsonAt(source: string, at: number): Literal | undefined {
  let depth = 0;
  let quoted = false;
  for (let end = at; end < source.length; end += 1) {
    const character = source[end];
    if (quoted) {
      if (character === "\\") end += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{") depth += 1;
    else if (character === "}" && --depth === 0) {
      const raw = source.slice(at, end + 1);
      return tryParse(raw) !== undefined ? { kind: "json", text: raw, raw } : undefined;
    }
  }
  return undefined;
}

/** All of the words, from the first to the last. */
export function matched(pattern: string, words: string): RegExpExecArray | null {
  return new RegExp(`^(?:${pattern})$`, "i").exec(words);
}
