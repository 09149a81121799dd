// Reads the variable parts of a sentence: quoted texts, file names, commands, sums, JSON. Each slot has a pattern and a reader.
import { isObject, tryParse } from "../../json/object.ts";
import { readSum } from "./arithmetic.ts";

/** A prompt whose quoted texts and JSON are each replaced by one private-use character, so as not to be parsed. */
export type Masked = { text: string; literals: { raw: string; text: string }[] };

const FIRST = 0xe000;
const MARK = "[\\uE000-\\uEFFF]";
const CLOSING: Record<string, string> = { '"': '"', "“": "”", "«": "»", "`": "`", "'": "'", "‘": "’" };

export function mask(prompt: string): Masked {
  const source = prompt.replace(/\r\n?/g, "\n").replace(/[\uE000-\uEFFF]/g, "");
  const masked: Masked = { text: "", literals: [] };
  const unclosed = new Set<string>();
  for (let at = 0; at < source.length; ) {
    const opening = source[at]!;
    const literal = unclosed.has(opening) ? undefined : literalAt(source, at);
    // A quote without an end has none for later openings either, so its end is searched for only once.
    if (literal === null) unclosed.add(opening);
    masked.text += literal ? String.fromCharCode(FIRST + masked.literals.length) : opening;
    if (literal) masked.literals.push(literal);
    at += literal?.raw.length ?? 1;
  }
  return masked;
}

/** Restores words as the user typed them, with their quotes. */
export function asTyped(words: string, { literals }: Masked): string {
  return words.replace(new RegExp(MARK, "g"), (mark) => literals[mark.charCodeAt(0) - FIRST]?.raw ?? "");
}

/** Returns undefined if no literal starts here, null if one starts but does not end. */
function literalAt(source: string, at: number): Masked["literals"][number] | undefined | null {
  const opening = source[at]!;
  if (opening === "{") return source.startsWith("with ", at - 5) ? jsonAt(source, at) : undefined;
  const closing = CLOSING[opening];
  // An apostrophe is not a quotation mark: those open after a gap and close before one.
  const isSingle = opening === "'" || opening === "‘";
  if (closing === undefined || (isSingle && /[\p{L}\p{N}]/u.test(source[at - 1] ?? " "))) return undefined;
  const end = new RegExp(isSingle ? `${closing}(?![\\p{L}\\p{N}])` : closing, "u").exec(source.slice(at + 1))?.index;
  if (end === undefined) return null;
  const inner = source.slice(at + 1, at + 1 + end);
  return { raw: source.slice(at, at + end + 2), text: opening === "`" ? inner : inner.replaceAll("\\n", "\n") };
}

function jsonAt(source: string, at: number): Masked["literals"][number] | undefined | null {
  let depth = 0;
  for (const { 0: piece, index } of source.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (piece === "{") depth += 1;
    if (piece !== "}" || --depth > 0) continue;
    const raw = source.slice(at, at + index + 1);
    return isObject(tryParse(raw)) ? { raw, text: raw } : undefined;
  }
  return null;
}

type Slot = { shape: string; read(words: string, masked: Masked): string | undefined };

const quoted = (words: string, { literals }: Masked): string | undefined =>
  words.length === 1 ? literals[words.charCodeAt(0) - FIRST]?.text : undefined;
/** Matches one token of a name, without characters that are special in prose, patterns or the shell. */
const TOKEN = "[^\\s'\"`,;:?!*<>|&$(){}\\[\\]\\uE000-\\uEFFF]+";
const KNOWN_NAME = /^(?:README|LICENSE|CHANGELOG|NOTICE|TODO|Makefile|Dockerfile|Gemfile|Rakefile|Procfile)$/;

/** Matches the name of a file: quoted, with an extension or a slash, or well known. No other word counts as a file. */
const file: Slot = {
  shape: `${MARK}|${TOKEN}`,
  read(words, masked) {
    const name = quoted(words, masked) ?? words;
    const isName = name !== words || /\S\.\w|^\.\w|.\/|\/./.test(name) || KNOWN_NAME.test(name);
    return isName && name.trim() !== "" && !/[\n\r\t*?]/.test(name) ? name.replace(/^(?:\.\/)+(?=.)/, "") : undefined;
  },
};

/** Words that belong to a sentence around a command, or make it prose. */
const PROSE =
  /^(?:an?|all|any|some|every|everything|something|anything|tests|away|up|down)\b|(?:^| )(?:the|my|your|our|this|that|these|those|it|its|them|you|me|us|there|here|if|unless|but|because|when|while|until|after|before|please|in|into|on|onto|out|for|with|without|to|from|of|or|and|then|not|never|only|once|twice|as|is|are|was|so|by|now|later|instead|again|first|maybe|perhaps|probably|today|tomorrow|soon|just|also|too|always|afterwards|quickly|carefully)(?: |$)|, |[?,]$/i;

const words = (shape: string): Slot => ({
  shape: `${MARK}|${shape}`,
  read: (given, masked) => quoted(given, masked) ?? given,
});
const text: Slot = { shape: MARK, read: quoted };

const slots: Record<string, Slot> = {
  FILE: file,
  TO: file,
  NAME: words(TOKEN),
  FOLDER: words(TOKEN),
  TEXT: text,
  OLD: text,
  NEW: text,
  WORD: words("[^\\s\\uE000-\\uEFFF]+"),
  PATTERN: words("[\\w.*?/{},-]*[.*][\\w.*?/{},-]*"),
  GLOB: words("[\\w.*?/{},-]+"),
  NUMBER: words("\\d+"),
  TOOL: words("[\\w.:-]+"),
  SUM: { shape: ".+", read: readSum },
  COMMAND: {
    shape: ".+",
    read: (given, masked) => quoted(given, masked) ?? (PROSE.test(given) ? undefined : asTyped(given, masked)),
  },
  /** The items of a todo list, separated by commas or "and"; returned as one line each. */
  ITEMS: {
    shape: ".+",
    read(given, masked) {
      const items = given.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i);
      if (items.includes("") || / then /i.test(given)) return undefined;
      return items.map((item) => quoted(item, masked) ?? asTyped(item, masked)).join("\n");
    },
  },
  STATE: {
    shape: "done|completed|in progress|pending|cancelled",
    read: (given) => given.toLowerCase().replace("done", "completed").replace(" ", "_"),
  },
  JSON: {
    shape: MARK,
    read: (given, masked) => (isObject(tryParse(quoted(given, masked)!)) ? quoted(given, masked) : undefined),
  },
};

/** Compiles a sentence of the table into a pattern for words that each end with a space. */
export function compileSentence(says: string): RegExp {
  const words = says.split(" ").map((word) => {
    const bare = word.replace(/^\[|\]$/g, "");
    const slot = slots[bare];
    const source = slot ? `(?<${bare}>${slot.shape})` : bare.replaceAll("_", " ");
    return word === bare ? `(?:${source}) ` : `(?:(?:${source}) )?`;
  });
  return new RegExp(`^${words.join("")}$`, "i");
}

/** Returns the values of the slots; undefined if one of them is invalid. */
export function readSlots(found: Record<string, string>, masked: Masked): Record<string, string> | undefined {
  const read = Object.entries(found).flatMap(([slot, words]) =>
    words === undefined ? [] : [[slot, slots[slot]!.read(words, masked)] as const],
  );
  return read.every((entry): entry is [string, string] => entry[1] !== undefined)
    ? Object.fromEntries(read)
    : undefined;
}
