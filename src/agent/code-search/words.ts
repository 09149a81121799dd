// Turns words of code and questions into index terms: whole identifiers and their parts, stemmed.
import { extname } from "node:path";
import { stem } from "./stem.ts";

/** Words that are ignored in a search because they say nothing about what code does. */
const emptyWords = new Set(
  (
    "a an the this that these those it its itself i you we they he she him her them us our your their one ones some any each every all both either neither " +
    "is are was were be been being am do does did done doing has have had having can could may might must shall should will would " +
    "and or not no nor but if then else than so as of to in on at by for from with without within into onto over under about between through during before after until while " +
    "what which who whom whose when where why how there here also too very just only even still yet already again such other others another same own more most much many few less least " +
    "several current currently along anywhere everywhere always never often once first second last next later earlier long short good bad whole together apart alone instead because although though whether since per via " +
    "go goes going come comes came become becomes keep keeps kept give gives given say says said tell tells told see sees seen know knows known want wants wanted need needs needed try tries happen happens mean means meant hand handed " +
    "up out off down back get gets got let lets make makes made take takes taken put puts use uses used using way ways thing things something anything nothing " +
    "code file files function functions method methods class classes module part place " +
    "const var return new null undefined true false void static public private protected async await import export default extends implements typeof instanceof " +
    "self elif pass lambda def fn func end nil none require include package string number boolean int str bool any unknown never object"
  ).split(" "),
);

const longestWord = 40;

/** Reports whether a word is too common to index. */
export function isEmptyWord(word: string): boolean {
  return emptyWords.has(word);
}

/** Returns the search terms of an identifier: its parts, and the whole if it has several. `word` consists of letters, digits, _ and $. */
export function termsOfWord(word: string): string[] {
  if (word.length > longestWord) return [];
  if (/[^\x00-\x7f]/.test(word)) return foreignTerms(word);
  const parts = splitIdentifier(word);
  const terms = new Set<string>();
  for (const part of parts) {
    const lower = part.toLowerCase();
    if (lower.length > 1 && !emptyWords.has(lower) && !/^\d+$/.test(lower)) terms.add(stemOf(lower));
  }
  // Index the whole name too, so that its camelCase and snake_case spellings match each other.
  if (parts.length > 1 && parts.length <= 6) terms.add(parts.join("").toLowerCase());
  return [...terms];
}

/** A cache of word stems, since most words recur. */
const stems = new Map<string, string>();

function stemOf(word: string): string {
  const existing = stems.get(word);
  if (existing !== undefined) return existing;
  if (stems.size > 50_000) stems.clear();
  const stemmed = stem(word);
  stems.set(word, stemmed);
  return stemmed;
}

/** Splits an identifier into words: "parseHTTPHeader_v2" becomes parse, HTTP, Header, v2. */
export function splitIdentifier(word: string): string[] {
  return word.match(/[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+/g) ?? [];
}

/** Removes accents; scripts without blanks are split into pairs of characters. */
function foreignTerms(word: string): string[] {
  const plain = word
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u.test(plain)) {
    const letters = plain.replace(/[^\p{L}\p{N}]+/gu, "");
    return letters.length > 1 ? [letters] : [];
  }
  const characters = [...plain.replace(/[^\p{L}\p{N}]+/gu, "")];
  if (characters.length < 3) return [characters.join("")];
  return characters.slice(0, -1).map((character, index) => character + characters[index + 1]!);
}

type PathTerms = { name: Set<string>; folders: Set<string> };

/** File names such as "index" that say nothing about what the file does. */
const emptyNames =
  /^(?:index|main|src|lib|dist|source|sources|__init__|mod|utils?|helpers?|common|core|shared|internal)$/i;

/** Returns the terms of a path: the file's name says most, then its folders. */
export function pathTerms(path: string): PathTerms {
  const names = path.slice(0, path.length - extname(path).length).split("/");
  const meaningfulNames = names.filter((name) => !emptyNames.test(name));
  const last = meaningfulNames.pop() ?? names.at(-1) ?? "";
  const joined = last.replace(/[^A-Za-z0-9]+/g, "").toLowerCase();
  const name = new Set(last.split(/[^\w$]+/).flatMap(termsOfWord));
  if (joined.length > 1 && joined.length <= 40) name.add(joined);
  return { name, folders: new Set(meaningfulNames.flatMap((each) => each.split(/[^\w$]+/)).flatMap(termsOfWord)) };
}

export function pathText(path: string): string {
  const { name, folders } = pathTerms(path);
  return [...folders, ...name, ...name].join(" ");
}
