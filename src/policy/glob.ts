// Patterns with *, ** and ?: matched without backtracking into more than the last star, so no pattern is slow.

/** `*`: anything but a slash between segments; see matchesPath. `fold`: without case, look-alikes and invisible characters. */
export type GlobOptions = { fold?: boolean; brackets?: boolean };

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
  const wanted = options.fold ? fold(text) : text;
  const alternatives = expandBraces(options.fold ? fold(pattern) : pattern);
  return alternatives.some((each) => matchesSegment(tokensOf(each, options), wanted));
}

/** Matches whole components of an absolute path; `**` stands for any number of them. */
export function matchesPath(pattern: string, path: string, options: GlobOptions = {}): boolean {
  const wanted = (options.fold ? fold(path) : path).split("/");
  for (const alternative of expandBraces(options.fold ? fold(pattern) : pattern)) {
    const segments = alternative.split("/").map((segment) => (segment === "**" ? "any" : tokensOf(segment, options)));
    if (matchesSegments(segments, wanted)) return true;
  }
  return false;
}

type Token = string | { kind: "star" | "one" } | { kind: "class"; has(character: string): boolean };

function matchesSegments(pattern: readonly ("any" | Token[])[], path: readonly string[]): boolean {
  return walk(
    pattern.length,
    path.length,
    (at) => pattern[at] === "any",
    (at, index) => matchesSegment(pattern[at] as Token[], path[index]!),
  );
}

function matchesSegment(pattern: readonly Token[], text: string): boolean {
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
    if (at < patternLength && star(at)) {
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
  while (at < patternLength && star(at)) at++;
  return at === patternLength;
}

function isStar(token: Token | undefined): boolean {
  return typeof token === "object" && token.kind === "star";
}

function matchesOne(token: Token, character: string): boolean {
  if (typeof token === "string") return token === character;
  return token.kind === "one" || (token.kind === "class" && token.has(character));
}

function tokensOf(pattern: string, options: GlobOptions): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === "*") {
      if (!isStar(tokens.at(-1))) tokens.push({ kind: "star" });
    } else if (character === "?") tokens.push({ kind: "one" });
    else if (character === "[" && options.brackets && pattern.indexOf("]", at + 2) !== -1) {
      const end = pattern.indexOf("]", at + 2);
      tokens.push(classOf(pattern.slice(at + 1, end)));
      at = end;
    } else tokens.push(character);
  }
  return tokens;
}

function classOf(body: string): Token {
  const negated = body.startsWith("!") || body.startsWith("^");
  const characters = negated ? body.slice(1) : body;
  const has = (character: string): boolean => {
    for (let at = 0; at < characters.length; at++) {
      if (characters[at + 1] === "-" && at + 2 < characters.length) {
        if (character >= characters[at]! && character <= characters[at + 2]!) return true;
        at += 2;
      } else if (characters[at] === character) return true;
    }
    return false;
  };
  return { kind: "class", has: negated ? (character) => !has(character) : has };
}

/** `a{b,c}` → `ab`, `ac`. A pattern with too many alternatives stays as it is written. */
function expandBraces(pattern: string): string[] {
  let done: string[] = [pattern];
  while (true) {
    const at = done.findIndex((each) => innermost.test(each));
    if (at === -1) return done;
    const [whole, body] = innermost.exec(done[at]!)!;
    const choices = body!.split(",").map((choice) => done[at]!.replace(whole, () => choice));
    done = [...done.slice(0, at), ...choices, ...done.slice(at + 1)];
    if (done.length > mostAlternatives) return [pattern];
  }
}

const innermost = /\{([^{}]*,[^{}]*)\}/;

/** Could a path that the shell makes of `operand` match `pattern`? Compared segment by segment. */
export function patternsMeet(operand: string, pattern: string): boolean {
  return meet(fold(operand).split("/"), fold(pattern).split("/"), (segment) => segment === "**", segmentsMeet);
}

function segmentsMeet(operand: string, pattern: string): boolean {
  // The shell's wildcards leave hidden files out.
  if (/^[*?[]/.test(operand) && pattern.startsWith(".")) return false;
  const options = { brackets: true };
  const both = [tokensOf(operand, options), tokensOf(pattern, options)] as const;
  return meet(both[0], both[1], isStar, (one, other) => {
    if (typeof one === "string") return matchesOne(other, one);
    // Two classes: taken to meet, which is the careful answer.
    return typeof other === "string" ? matchesOne(one, other) : true;
  });
}

/** Whether two sequences with stars have a common member: a table of their positions. */
function meet<T>(
  left: readonly T[],
  right: readonly T[],
  star: (item: T) => boolean,
  same: (one: T, other: T) => boolean,
): boolean {
  let row = new Array<boolean>(right.length + 1).fill(false);
  for (let i = left.length; i >= 0; i--) {
    const next = row;
    row = new Array<boolean>(right.length + 1).fill(false);
    for (let j = right.length; j >= 0; j--) {
      const one = left[i];
      const other = right[j];
      if (one === undefined && other === undefined) row[j] = true;
      else if (one !== undefined && star(one)) row[j] = next[j]! || (other !== undefined && row[j + 1]!);
      else if (other !== undefined && star(other)) row[j] = row[j + 1]! || (one !== undefined && next[j]!);
      else row[j] = one !== undefined && other !== undefined && next[j + 1]! && same(one, other);
    }
  }
  return row[0]!;
}
