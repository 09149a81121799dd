// Matches patterns with *, ** and ?. The text between two stars is matched at the first place it fits, so no pattern is slow.

/**
 * `fold` ignores case, look-alikes and invisible characters. With `brackets`, `[a-c]` matches one of a set. With `escapes`, a backslash
 * makes the next character literal.
 */
export type GlobOptions = { fold?: boolean; brackets?: boolean; escapes?: boolean };

const maxAlternatives = 256;

/** Normalises characters that file systems or readers may take for the same. */
export function foldText(text: string): string {
  // Most paths are ASCII, and need no normalisation.
  const plain = /^[\x20-\x7e]*$/.test(text)
    ? text
    : text.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return plain.toLowerCase();
}

export function hasWildcard(pattern: string): boolean {
  return /[*?]/.test(pattern) || innerGroup(pattern)[1] !== -1;
}

/** Returns whether a pattern matches a whole text; `*` stands for any characters, including spaces and slashes. */
export function matchesText(pattern: string, text: string, options: GlobOptions = {}): boolean {
  // Compare patterns without wildcards directly, since most are plain names.
  if (/^[\w./ -]*$/.test(pattern)) return options.fold ? pattern.toLowerCase() === foldText(text) : pattern === text;
  const wanted = options.fold ? foldText(text) : text;
  return alternativesOf(pattern, options).some((each) => matchesName(splitPieces(tokenize(each, options)), wanted));
}

/** Compiles a test for whole path components, for repeated use; `**` stands for any number of components. */
export function compilePath(pattern: string, options: GlobOptions = {}): (path: string) => boolean {
  const compiled = alternativesOf(pattern, options).map((alternative) => {
    const segments = alternative
      .split("/")
      .map((segment): Segment => (segment === "**" ? "any" : splitPieces(tokenize(segment, options))));
    return { segments, needed: segments.flat().findLast(isNeeded) ?? "" };
  });
  return (path) => {
    const wanted = options.fold ? foldText(path) : path;
    return compiled.some(
      ({ segments, needed }) => wanted.includes(needed) && matchesNames(segments, wanted.split("/")),
    );
  };
}

/** Returns whether a piece is plain text, which every matching path must contain. It excludes most paths quickly. */
function isNeeded(piece: Piece): piece is string {
  return typeof piece === "string" && piece !== "" && piece !== "any";
}

/** Expands the alternatives in a pattern, unless there are too many. */
function alternativesOf(pattern: string, options: GlobOptions): string[] {
  const folded = options.fold ? foldText(pattern) : pattern;
  return expandBraces(folded) ?? [folded];
}

/** A pattern for a single character: the character itself, or a test for a set of characters. */
type OneCharacter = string | ((character: string) => boolean);
const star = Symbol("*");
export type GlobToken = OneCharacter | typeof star;
/** The part between two stars, before the first or after the last. */
type Piece = readonly OneCharacter[] | string;
export type Segment = readonly Piece[] | "any";

export function tokenize(pattern: string, options: GlobOptions): GlobToken[] {
  const tokens: GlobToken[] = [];
  for (let at = 0; at < pattern.length; ) {
    const set = pattern[at] === "[" && options.brackets ? setAt(pattern, at + 1, options.fold) : undefined;
    if (set) {
      tokens.push(set.has);
      at = set.end;
      continue;
    }
    const isEscaped = options.escapes === true && pattern[at] === "\\" && at + 1 < pattern.length;
    if (isEscaped) at++;
    const character = characterAt(pattern, at)!;
    at += character.length;
    if (!isEscaped && character === "*") tokens.push(star);
    else if (!isEscaped && character === "?") tokens.push(() => true);
    else if (options.fold) tokens.push(...character.toLowerCase());
    else tokens.push(character);
  }
  return tokens;
}

function characterAt(text: string, at: number): string | undefined {
  return at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : undefined;
}

const classes: Record<string, RegExp> = {
  alnum: /^[a-z0-9]$/i,
  alpha: /^[a-z]$/i,
  blank: /^[ \t]$/,
  cntrl: /^[\0-\x1f\x7f]$/,
  digit: /^\d$/,
  graph: /^[\x21-\x7e]$/,
  lower: /^[a-z]$/,
  print: /^[\x20-\x7e]$/,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^[ \t-\r]$/,
  upper: /^[A-Z]$/,
  xdigit: /^[0-9a-f]$/i,
};

/**
 * Parses the set opened before `start`, and returns where it ends. Returns undefined if it is not closed or names an unknown class. The
 * text must keep its case: a class of capitals has no meaning in lower case.
 */
export function setAt(text: string, start: number, ignoreCase = false) {
  const tests: ((character: string) => boolean)[] = [];
  const isNegated = text[start] === "!" || text[start] === "^";
  const first = start + (isNegated ? 1 : 0);
  let from: string | undefined;
  for (let at = first; ; ) {
    let character = characterAt(text, at);
    if (character === undefined) return undefined;
    if (character === "]" && at > first) {
      const isIn = (each: string) => tests.some((test) => test(each));
      const has = ignoreCase ? (each: string) => isIn(each) || isIn(each.toUpperCase()) : isIn;
      return { end: at + 1, has: isNegated ? (each: string) => !has(each) : has };
    }
    const named = character === "[" && text[at + 1] === ":" ? /\[:([^\]]{0,32}):\]/y : undefined;
    if (named) {
      named.lastIndex = at;
      const found = named.exec(text);
      const known = found && classes[found[1]!];
      if (found && !known) return undefined;
      if (known) {
        tests.push((each) => known.test(each));
        from = undefined;
        at += found[0].length;
        continue;
      }
    }
    const isRange = character === "-" && from !== undefined && (text[at + 1] ?? "]") !== "]";
    if (isRange) at++;
    if (text[at] === "\\") at++;
    character = characterAt(text, at);
    if (character === undefined) return undefined;
    at += character.length;
    const to = character;
    const low = isRange ? from! : to;
    tests.push((each) => each >= low && each <= to);
    from = isRange ? undefined : to;
  }
}

export function splitPieces(tokens: readonly GlobToken[]): Piece[] {
  const pieces: OneCharacter[][] = [[]];
  for (const token of tokens) {
    if (token === star) pieces.push([]);
    else pieces.at(-1)!.push(token);
  }
  return pieces.map((piece) => (piece.every((one) => typeof one === "string") ? piece.join("") : piece));
}

/** A budget that each comparison reduces, for callers that limit the work. */
export type Effort = { left: number };

/** Matches path components: "any" stands for any number of them, and the first place where the rest fits is sufficient. */
export function matchesNames(segments: readonly Segment[], names: readonly string[], effort?: Effort): boolean {
  let at = 0;
  let index = 0;
  let again: { at: number; index: number } | undefined;
  while (index < names.length) {
    const segment = segments[at];
    if (segment === "any") again = { at: ++at, index };
    else if (segment !== undefined && matchesName(segment, names[index]!, effort)) {
      at++;
      index++;
    } else if (again) {
      again.index++;
      ({ at, index } = again);
    } else return false;
  }
  while (segments[at] === "any") at++;
  return at === segments.length;
}

export function matchesName(pieces: readonly Piece[], name: string, effort?: Effort): boolean {
  if (effort) effort.left -= 4 + pieces.length;
  const last = pieces.at(-1)!;
  let at = matchEnd(pieces[0]!, name, 0);
  if (pieces.length === 1) return at === name.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    if (at === -1) return false;
    const piece = pieces[index]!;
    if (effort && typeof piece !== "string") effort.left -= piece.length + name.length * (1 + (piece.length >> 5));
    at = endOfNext(piece, name, at);
  }
  if (effort && typeof last !== "string") effort.left -= 2 * last.length;
  return at !== -1 && fitsAtEnd(last, name, at);
}

/** Returns where a piece that begins at `from` ends, or -1 if it does not match. */
function matchEnd(piece: Piece, name: string, from: number): number {
  if (typeof piece === "string") return name.startsWith(piece, from) ? from + piece.length : -1;
  let at = from;
  for (const one of piece) {
    const character = characterAt(name, at);
    if (character === undefined || !isOne(one, character)) return -1;
    at += character.length;
  }
  return at;
}

function isOne(one: OneCharacter, character: string): boolean {
  return typeof one === "string" ? one === character : one(character);
}

function endOfNext(piece: Piece, name: string, from: number): number {
  if (typeof piece === "string") {
    const found = name.indexOf(piece, from);
    return found === -1 ? -1 : found + piece.length;
  }
  // Use one bit for each character of the piece, set if the text matches up to there, to try all starts at once.
  const fitting = fittingOf(piece);
  const matched = new Uint32Array(Math.ceil(piece.length / 32));
  for (let at = from; at < name.length; ) {
    const character = characterAt(name, at)!;
    at += character.length;
    const fits = fitting(character);
    let carry = 1;
    for (let index = 0; index < matched.length; index++) {
      const before = matched[index]!;
      matched[index] = ((before << 1) | carry) & fits[index]!;
      carry = before >>> 31;
    }
    if ((matched.at(-1)! >>> ((piece.length - 1) % 32)) & 1) return at;
  }
  return -1;
}

const fittings = new WeakMap<readonly OneCharacter[], Map<string, Uint32Array>>();

/** Returns, as bits, which characters of a piece match a character. */
function fittingOf(piece: readonly OneCharacter[]): (character: string) => Uint32Array {
  const existing = fittings.get(piece) ?? new Map<string, Uint32Array>();
  fittings.set(piece, existing);
  return (character) => {
    let bits = existing.get(character);
    if (bits) return bits;
    bits = new Uint32Array(Math.ceil(piece.length / 32));
    for (const [index, one] of piece.entries()) if (isOne(one, character)) bits[index >>> 5]! |= 1 << (index & 31);
    existing.set(character, bits);
    return bits;
  };
}

function fitsAtEnd(piece: Piece, name: string, from: number): boolean {
  if (typeof piece === "string") return name.length - piece.length >= from && name.endsWith(piece);
  let at = name.length;
  for (let left = piece.length; left > 0 && at > from; left--) at -= name.codePointAt(at - 2)! > 0xffff ? 2 : 1;
  return at >= from && matchEnd(piece, name, at) === name.length;
}

/** Expands `a{b,c}` to `ab`, `ac`. Returns undefined if there would be too many. */
export function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    if (done.length + open.length > maxAlternatives) return undefined;
    const text = open.pop()!;
    const [start, end] = innerGroup(text);
    const choices = text.slice(start + 1, end).split(",");
    if (end === -1) done.push(text);
    else if (choices.length > maxAlternatives) return undefined;
    else for (const choice of choices) open.push(text.slice(0, start) + choice + text.slice(end + 1));
  }
  return done;
}

/** Returns where the first group without another one in it begins and ends, or -1. */
function innerGroup(text: string): [start: number, end: number] {
  let start = -1;
  let hasComma = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") [start, hasComma] = [at, false];
    else if (text[at] === ",") hasComma = true;
    else if (text[at] === "}") {
      if (start !== -1 && hasComma) return [start, at];
      start = -1;
    }
  }
  return [-1, -1];
}

/** Returns whether a path that the shell expands from `operand` could match `pattern`, segment by segment. */
export function patternsMeet(operand: string, pattern: string): boolean {
  return canMatchSame(
    foldText(operand).split("/"),
    foldText(pattern).split("/"),
    (segment) => segment === "**",
    segmentsMeet,
  );
}

function segmentsMeet(operand: string, pattern: string): boolean {
  // Wildcards of the shell do not match hidden files.
  if (/^[*?[]/.test(operand) && pattern.startsWith(".")) return false;
  const options = { brackets: true };
  const isStar = (token: GlobToken | undefined) => token === star;
  return canMatchSame(tokenize(operand, options), tokenize(pattern, options), isStar, (one, other) => {
    if (typeof one === "string") return isOne(other as OneCharacter, one);
    // Assume that two sets of characters overlap, which is the cautious answer.
    return typeof other === "string" ? isOne(one as OneCharacter, other) : true;
  });
}

/** Returns whether two sequences with stars can match the same text, using a table of their prefixes, row by row. */
function canMatchSame<T>(
  left: readonly T[],
  right: readonly T[],
  isStar: (item: T | undefined) => boolean,
  same: (one: T, other: T) => boolean,
): boolean {
  let above: boolean[] = [];
  for (let i = 0; i <= left.length; i++) {
    const row: boolean[] = [];
    for (let j = 0; j <= right.length; j++) {
      const one = left[i - 1];
      const other = right[j - 1];
      // A star matches nothing, or one more item of the other pattern.
      if (isStar(one) || isStar(other)) row.push(row[j - 1] || above[j] || false);
      else row.push(i === 0 && j === 0 ? true : above[j - 1] === true && same(one!, other!));
    }
    above = row;
  }
  return above[right.length]!;
}
