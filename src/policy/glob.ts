// Patterns with *, ** and ?: matched without backtracking into more than the last star, so no pattern is slow.

/**
 * `fold`: without case, look-alikes and invisible characters. `brackets`: `[a-c]` stands for one of a set. `escapes`: a
 * backslash takes the meaning from what follows it.
 */
export type GlobOptions = { fold?: boolean; brackets?: boolean; escapes?: boolean };

const mostAlternatives = 256;

/** Characters that file systems and eyes may take for the same. */
export function fold(text: string): string {
  // Most paths are plain: the costly steps are for the others.
  const plain = /^[\x20-\x7e]*$/.test(text)
    ? text
    : text.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return plain.toLowerCase();
}

export function hasWildcard(pattern: string): boolean {
  return /[*?]/.test(pattern) || /\{[^{}]*,[^{}]*\}/.test(pattern);
}

/** Matches a whole text; `*` stands for any characters, blanks and slashes included. */
export function matchesText(pattern: string, text: string, options: GlobOptions = {}): boolean {
  // Most patterns are names.
  if (/^[\w./ -]*$/.test(pattern)) return options.fold ? pattern.toLowerCase() === fold(text) : pattern === text;
  const wanted = [...(options.fold ? fold(text) : text)];
  return alternativesOf(pattern, options).some((each) => matchesSegment(tokensOf(each, options), wanted));
}

/** A test for whole components of paths, made once for many; `**` stands for any number of components. */
export function compilePath(pattern: string, options: GlobOptions = {}): (path: string) => boolean {
  const compiled = alternativesOf(pattern, options).map((alternative) => {
    const segments = alternative.split("/").map((segment) => (segment === "**" ? "any" : tokensOf(segment, options)));
    return { tests: segments.map(segmentTest), needed: lastLiteral(segments) };
  });
  return (path) => {
    const wanted = options.fold ? fold(path) : path;
    return compiled.some(({ tests, needed }) => wanted.includes(needed) && matchesSegments(tests, wanted.split("/")));
  };
}

/** What a path must contain, whatever the wildcards stand for: most paths of a listing are sorted out by it. */
function lastLiteral(segments: readonly ("any" | GlobToken[])[]): string {
  const texts = segments.flatMap((segment) => {
    if (segment === "any") return [];
    return segment
      .map((token) => (typeof token === "string" ? token : "/"))
      .join("")
      .split("/");
  });
  return texts.findLast((text) => text !== "") ?? "";
}

type SegmentTest = "any" | ((name: string) => boolean);

function segmentTest(segment: "any" | GlobToken[]): SegmentTest {
  if (segment === "any") return segment;
  if (segment.length === 1 && isStar(segment[0])) return () => true;
  const literal = segment.every((token) => typeof token === "string") ? segment.join("") : undefined;
  return literal === undefined ? (name) => matchesSegment(segment, [...name]) : (name) => name === literal;
}

/** A pattern with too many alternatives stays as it is written. */
function alternativesOf(pattern: string, options: GlobOptions): string[] {
  const folded = options.fold ? fold(pattern) : pattern;
  return expandBraces(folded) ?? [folded];
}

type GlobToken = string | { kind: "star" | "one" } | { kind: "class"; has(character: string): boolean };

function matchesSegments(pattern: readonly SegmentTest[], names: readonly string[]): boolean {
  return walk(
    pattern.length,
    names.length,
    (at) => pattern[at] === "any",
    (at, index) => (pattern[at] as Exclude<SegmentTest, "any">)(names[index]!),
  );
}

function matchesSegment(pattern: readonly GlobToken[], text: readonly string[]): boolean {
  return walk(
    pattern.length,
    text.length,
    (at) => isStar(pattern[at]),
    (at, index) => matchesOne(pattern[at]!, text[index]!),
  );
}

/** Two pointers and one memory: a later star makes every earlier choice irrelevant. */
function walk(
  patternLength: number,
  length: number,
  star: (at: number) => boolean,
  same: (at: number, index: number) => boolean,
): boolean {
  let at = 0;
  let index = 0;
  let starAt = -1;
  let starIndex = 0;
  while (index < length) {
    if (star(at)) {
      starAt = at++;
      starIndex = index;
    } else if (at < patternLength && same(at, index)) {
      at++;
      index++;
    } else if (starAt !== -1) {
      at = starAt + 1;
      index = ++starIndex;
    } else return false;
  }
  while (star(at)) at++;
  return at === patternLength;
}

function isStar(token: GlobToken | undefined): boolean {
  return typeof token === "object" && token.kind === "star";
}

function matchesOne(token: GlobToken, character: string): boolean {
  if (typeof token === "string") return token === character;
  return token.kind === "one" || (token.kind === "class" && token.has(character));
}

function tokensOf(pattern: string, options: GlobOptions): GlobToken[] {
  const tokens: GlobToken[] = [];
  for (let at = 0; at < pattern.length; ) {
    const set = pattern[at] === "[" && options.brackets ? setAt(pattern, at) : undefined;
    if (set) {
      tokens.push(classOf(set));
      at += set[0].length;
      continue;
    }
    const isEscaped = options.escapes === true && pattern[at] === "\\" && at + 1 < pattern.length;
    if (isEscaped) at++;
    const character = String.fromCodePoint(pattern.codePointAt(at)!);
    at += character.length;
    if (isEscaped || (character !== "*" && character !== "?")) tokens.push(character);
    else tokens.push({ kind: character === "?" ? "one" : "star" });
  }
  return tokens;
}

/** A bracket that is closed; a closing one at the very start is a member. */
function setAt(pattern: string, at: number): RegExpExecArray | undefined {
  const set = /\[([!^])?(\]?[^\]]*)\]/y;
  set.lastIndex = at;
  const found = set.exec(pattern);
  return found && found[2] !== "" ? found : undefined;
}

function classOf([, negation, body]: RegExpExecArray): GlobToken {
  const characters = [...body!];
  const has = (character: string): boolean => {
    for (let at = 0; at < characters.length; at++) {
      if (characters[at + 1] === "-" && at + 2 < characters.length) {
        if (character >= characters[at]! && character <= characters[at + 2]!) return true;
        at += 2;
      } else if (characters[at] === character) return true;
    }
    return false;
  };
  return { kind: "class", has: negation === undefined ? has : (character) => !has(character) };
}

/** `a{b,c}` → `ab`, `ac`. Undefined where that would be too many. */
export function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    if (done.length + open.length > mostAlternatives) return undefined;
    const text = open.pop()!;
    const group = /\{([^{}]*,[^{}]*)\}/.exec(text);
    if (!group) done.push(text);
    else
      for (const choice of group[1]!.split(","))
        open.push(text.slice(0, group.index) + choice + text.slice(group.index + group[0].length));
  }
  return done;
}

/** Could a path that the shell makes of `operand` match `pattern`? Compared segment by segment. */
export function patternsMeet(operand: string, pattern: string): boolean {
  return meet(fold(operand).split("/"), fold(pattern).split("/"), (segment) => segment === "**", segmentsMeet);
}

function segmentsMeet(operand: string, pattern: string): boolean {
  // The shell's wildcards leave hidden files out.
  if (/^[*?[]/.test(operand) && pattern.startsWith(".")) return false;
  const options = { brackets: true };
  return meet(tokensOf(operand, options), tokensOf(pattern, options), isStar, (one, other) => {
    if (typeof one === "string") return matchesOne(other, one);
    // Two classes: taken to meet, which is the careful answer.
    return typeof other === "string" ? matchesOne(one, other) : true;
  });
}

/** Whether two sequences with stars have a common member: a table of their beginnings, row by row. */
function meet<T>(
  left: readonly T[],
  right: readonly T[],
  star: (item: T | undefined) => boolean,
  same: (one: T, other: T) => boolean,
): boolean {
  let above: boolean[] = [];
  for (let i = 0; i <= left.length; i++) {
    const row: boolean[] = [];
    for (let j = 0; j <= right.length; j++) {
      const one = left[i - 1];
      const other = right[j - 1];
      // A star stands for nothing, or for one more of what the other has.
      if (star(one) || star(other)) row.push(row[j - 1] || above[j] || false);
      else row.push(i === 0 && j === 0 ? true : above[j - 1] === true && same(one!, other!));
    }
    above = row;
  }
  return above[right.length]!;
}
