// Scans the bytes of a file once and counts terms in comments, in names of definitions and elsewhere. Words are recognised by a hash,
// so that strings are created only for new words.
import { words as listed } from "../../text/words.ts";
import { isEmptyWord, termsOfWord } from "./words.ts";

/** The counts of a term in the last scanned text, by field. There is one reused object per term. */
export type Term = {
  readonly text: string;
  /** A unique number for the term, counted from 0. */
  readonly id: number;
  symbols: number;
  comments: number;
  body: number;
};

type Counts = { symbols: number; comments: number; body: number; stamp: number };

type Word = Counts & {
  terms: readonly (Term & Counts)[];
  /** The next word is the name of a definition, as after `function`, `class`, `def`. `top`: only at the start of a line. */
  defines: "always" | "top" | "never";
  /** Can precede a bracket at the start of a line without being a name, such as `if` or `for`. */
  isControl: boolean;
  modifies: boolean;
};

const definers = listed(
  "function class interface type enum struct trait impl def fn func module namespace record protocol object mod sub macro proc",
);
/** Local variables inside functions are not names to search for. */
const topDefiners = listed("const let var exports static val public private protected void int");
const controls = listed(
  "if for while switch catch return await throw typeof new else do with super assert except elif",
);
const modifiers = listed(
  "async static public private protected get set export default override readonly abstract final",
);

/** Files whose comments start with `#` or `--`, and files of prose; all others use slashes. */
const hashComments =
  /\.(?:py|rb|sh|bash|zsh|pl|pm|r|ya?ml|toml|tf|ps1|mk|cmake|nix|ex|exs|jl|cfg|conf|ini)$|(?:^|\/)(?:Makefile|Dockerfile|Gemfile|Rakefile)[^/]*$/i;
const dashComments = /\.(?:sql|lua|hs|elm|ada|vhd|vhdl)$/i;
const plainText = /\.(?:md|mdx|markdown|txt|rst|adoc|org)$/i;

/** A hash table of words with open addressing: a Map with such keys is several times slower. */
const slots = 2 ** 19;
/** The most distinct words and terms to remember between texts; then the table is cleared. */
const maxWords = 250_000;

export interface Scanner {
  /** Returns the terms of a text, valid until the next scan. `path` decides the comment style; `from` and `to` are byte offsets. */
  scan(bytes: Uint8Array, path: string, range?: { from: number; to: number }): readonly Term[];
  /** Returns the object for a term; it stays the same until `isFull` was true. */
  term(text: string): Term;
  readonly isFull: boolean;
}

export function createScanner(): Scanner {
  const lows = new Int32Array(slots);
  const highs = new Int32Array(slots);
  let words: (Word | undefined)[] = new Array(slots);
  let terms = new Map<string, Term & Counts>();
  let size = 0;
  let stamp = 0;

  const termOf = (text: string): Term & Counts => {
    const existing = terms.get(text);
    if (existing) return existing;
    const newTerm = { text, id: terms.size, symbols: 0, comments: 0, body: 0, stamp: 0 };
    terms.set(text, newTerm);
    return newTerm;
  };

  const wordAt = (bytes: Uint8Array, from: number, to: number, low: number, high: number): Word => {
    let slot = (low ^ (high << 7)) & (slots - 1);
    for (let word = words[slot]; word; word = words[slot]) {
      if (lows[slot] === low && highs[slot] === high) return word;
      slot = (slot + 1) & (slots - 1);
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
    const newWord = makeWord(text, termOf);
    lows[slot] = low;
    highs[slot] = high;
    words[slot] = newWord;
    size += 1;
    return newWord;
  };

  const isFull = (): boolean => size >= maxWords || terms.size >= maxWords;

  return {
    get isFull() {
      return isFull();
    },
    term: termOf,
    scan(bytes, path, { from, to } = { from: 0, to: bytes.length }) {
      if (isFull()) {
        words = new Array(slots);
        terms = new Map();
        size = 0;
      }
      stamp += 1;
      const touched: Word[] = [];
      const style = styleOf(path);
      let comment: "none" | "line" | "block" = style === "text" ? "block" : "none";
      let previous: Word | undefined;
      let isFirst = true;
      let indent = 0;
      for (let at = from; at < to; ) {
        const byte = bytes[at]!;
        if (isWordByte[byte]) {
          let low = 0;
          let high = 0;
          const start = at;
          do {
            const next = bytes[at]!;
            low = (Math.imul(low, 31) + next) | 0;
            high = (Math.imul(high, 131) ^ next) | 0;
            at += 1;
          } while (at < to && isWordByte[bytes[at]!]);
          const length = at - start;
          if (length < 2 || length > 80 || (byte >= 48 && byte <= 57)) {
            isFirst = false;
            continue;
          }
          const word = wordAt(bytes, start, at, low, high);
          if (word.stamp !== stamp) {
            word.stamp = stamp;
            word.symbols = word.comments = word.body = 0;
            touched.push(word);
          }
          if (comment !== "none") word.comments += 1;
          else if (isDefined(previous, indent)) word.symbols += 1;
          else if (isFirst && !word.isControl && bytes[at] === 40 && opensBlock(bytes, at, to)) word.symbols += 1;
          else word.body += 1;
          if (comment === "none") {
            previous = word;
            isFirst = isFirst && word.modifies;
          }
          continue;
        }
        at += 1;
        if (byte === 10) {
          if (comment === "line") comment = "none";
          previous = undefined;
          isFirst = true;
          indent = 0;
        } else if (byte === 32 || byte === 9) {
          if (isFirst) indent += byte === 9 ? 4 : 1;
        } else if (comment === "none") {
          const next = bytes[at];
          if (byte === 47 && next === 47 && style === "slash") comment = "line";
          else if (byte === 47 && next === 42 && style === "slash") comment = "block";
          else if (byte === 35 && style === "hash") comment = "line";
          else if (byte === 45 && next === 45 && style === "dash") comment = "line";
          // In `export default {` or `foo = function`, what follows is not a name defined on this line.
          else if (byte !== 42 && byte !== 46 && byte !== 35) {
            previous = undefined;
            if (byte !== 64) isFirst = false;
          }
        } else if (comment === "block" && byte === 42 && bytes[at] === 47) {
          comment = "none";
          at += 1;
        }
      }
      return countTerms(touched, stamp);
    },
  };
}

function styleOf(path: string): "slash" | "hash" | "dash" | "text" {
  if (plainText.test(path)) return "text";
  if (hashComments.test(path)) return "hash";
  return dashComments.test(path) ? "dash" : "slash";
}

function isDefined(previous: Word | undefined, indent: number): boolean {
  if (!previous || previous.defines === "never") return false;
  return previous.defines === "always" || indent === 0;
}

/** The bytes that can be part of a word: letters, digits, _ and $, and everything outside ASCII. */
const isWordByte = new Uint8Array(256).map((_, byte) =>
  byte >= 128 || /[\w$]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Reports whether the line ends in a brace or a colon, so that the word before its bracket is a method's name. */
function opensBlock(bytes: Uint8Array, at: number, to: number): boolean {
  let end = bytes.indexOf(10, at);
  if (end === -1 || end > to) end = to;
  for (end -= 1; end > at; end -= 1) {
    const byte = bytes[end]!;
    if (byte !== 32 && byte !== 9 && byte !== 13) return byte === 123 || byte === 58;
  }
  return false;
}

function makeWord(text: string, termOf: (text: string) => Term & Counts): Word {
  return {
    terms: isEmptyWord(text.toLowerCase()) ? [] : termsOfWord(text).map(termOf),
    defines: definers.has(text) ? "always" : topDefiners.has(text) ? "top" : "never",
    isControl: controls.has(text),
    modifies: modifiers.has(text),
    stamp: 0,
    symbols: 0,
    comments: 0,
    body: 0,
  };
}

function countTerms(words: readonly Word[], stamp: number): Term[] {
  const counted: Term[] = [];
  for (const word of words) {
    for (const term of word.terms) {
      if (term.stamp !== stamp) {
        term.stamp = stamp;
        term.symbols = term.comments = term.body = 0;
        counted.push(term);
      }
      term.symbols += word.symbols;
      term.comments += word.comments;
      term.body += word.body;
    }
  }
  return counted;
}
