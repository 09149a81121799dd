// Defines the character sets that tokens consist of, as lookup tables, so that a long text is read only once.

export type CharacterSet = Uint8Array;

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";

const members = {
  alphanumeric: letters + digits,
  upper: letters.slice(0, 26) + digits,
  hex: `${digits}abcdefABCDEF`,
  word: `${letters}${digits}_-`,
  snake: `${letters}${digits}_`,
  dotted: `${letters}${digits}_-.`,
  entra: `${letters}${digits}_-.~`,
  base64: `${letters}${digits}+/=`,
  base64Any: `${letters}${digits}+/_-=`,
  bearer: `${letters}${digits}-._~+/=:%`,
};

export type SetName = keyof typeof members;

const sets = Object.fromEntries(Object.entries(members).map(([name, characters]) => [name, tableOf(characters)]));

function tableOf(characters: string): CharacterSet {
  const set = new Uint8Array(128);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

export function setOf(name: SetName): CharacterSet {
  return sets[name]!;
}

/** Returns where the run of these characters that begins at `from` ends, at most `limit`. */
export function runEnd(text: string, from: number, set: CharacterSet, limit = text.length): number {
  const stop = Math.min(limit, text.length);
  let at = from;
  while (at < stop && set[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** The same backwards: returns where the run that ends before `end` begins, at most `most` characters back. */
export function runStart(text: string, end: number, set: CharacterSet, most: number): number {
  let at = end;
  while (at > 0 && end - at < most && set[text.charCodeAt(at - 1)] === 1) at--;
  return at;
}

/** Counts of character kinds in a text, from one pass over it. */
type CharacterCounts = { digits: number; lower: number; upper: number; length: number };

function countCharacters(text: string): CharacterCounts {
  const counts = { digits: 0, lower: 0, upper: 0, length: text.length };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) counts.digits++;
    else if (code >= 97 && code <= 122) counts.lower++;
    else if (code >= 65 && code <= 90) counts.upper++;
  }
  return counts;
}

/** Returns whether letters and digits are mixed as in a generated token, not as in a word. */
export function looksRandom(text: string, least = 8): boolean {
  if (text.length < least) return false;
  const { digits: count, lower, upper } = countCharacters(text);
  if (lower + upper === 0) return count === text.length && count >= 16;
  return count > 0 || (text.length >= 16 && lower > 0 && upper > 0 && !isJoinedWords(text));
}

/** Returns whether a text has digits, lowercase and uppercase letters. */
export function hasThreeKinds(text: string): boolean {
  const { digits: count, lower, upper } = countCharacters(text);
  return count > 0 && lower > 0 && upper > 0;
}

/** Recognises names such as `accessTokenFromRequest`, `SECRET_KEY`, `my-secret-name`. */
function isJoinedWords(text: string): boolean {
  return (
    /^[\W_]{0,2}[A-Z]?[a-z]+(?:[A-Z][a-z]+)*$/.test(text) || /^[\W_]{0,2}[A-Za-z]+(?:[-_./:][A-Za-z]+)+$/.test(text)
  );
}

/** Returns whether the text has at least `least` letters and digits in a row, with both letters and digits among them. */
export function hasRandomStretch(text: string, least: number): boolean {
  const set = setOf("alphanumeric");
  for (let at = 0; at < text.length; at++) {
    const end = runEnd(text, at, set);
    if (end - at >= least) {
      const { digits: count, length } = countCharacters(text.slice(at, end));
      if (count > 0 && count < length) return true;
    }
    at = end;
  }
  return false;
}
