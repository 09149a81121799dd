// Path patterns of rules: `*` and `?` within a name, `**` over folders, `[abc]`, `{a,b}`. Never slow, whatever the pattern.

export type PathMatcher = (path: string) => boolean;

/** Paths are relative, with slashes. A pattern with `!` takes away; a pattern that names a folder means all below it. */
export function pathMatcher(patterns: readonly string[]): PathMatcher {
  const wanted: string[][] = [];
  const unwanted: string[][] = [];
  for (const pattern of patterns) {
    const isNegated = pattern.startsWith("!");
    for (const plain of withoutBraces(isNegated ? pattern.slice(1) : pattern)) {
      (isNegated ? unwanted : wanted).push(segmentsOf(plain));
    }
  }
  return (path) => {
    const names = path.split("/");
    const hits = (segments: string[]) => matchesPath(segments, names);
    return wanted.some(hits) && !unwanted.some(hits);
  };
}

function segmentsOf(pattern: string): string[] {
  const segments = pattern.replace(/^(?:\.?\/)+/, "").split("/");
  if (segments.at(-1) === "") segments.pop();
  return segments;
}

/** Row by row over a table of "may the rest match here": the work is at most patterns × names. */
function matchesPath(segments: readonly string[], names: readonly string[]): boolean {
  let reachable = new Set([0]);
  for (const segment of segments) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (segment === "**") for (let later = at; later <= names.length; later++) next.add(later);
      else if (at < names.length && matchesName(segment, names[at]!)) next.add(at + 1);
    }
    if (next.size === 0) return false;
    reachable = next;
  }
  if (reachable.has(names.length)) return true;
  const last = segments.at(-1);
  // `src/components` names a folder: what is below it is meant.
  return last !== undefined && !/[*?[]/.test(last);
}

/** On a mismatch only the latest star is tried again, one letter further. */
function matchesName(pattern: string, name: string): boolean {
  let at = 0;
  let position = 0;
  let starAt = -1;
  let starPosition = 0;
  while (position < name.length) {
    const width = pattern[at] === "*" ? 0 : widthOfMatch(pattern, at, name[position]!);
    if (pattern[at] === "*") {
      starAt = at++;
      starPosition = position;
    } else if (width > 0) {
      at += width;
      position++;
    } else if (starAt !== -1) {
      at = starAt + 1;
      position = ++starPosition;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** How much of the pattern stands for this letter: 0 when it does not match. */
function widthOfMatch(pattern: string, at: number, letter: string): number {
  const sign = pattern[at];
  if (sign === undefined) return 0;
  if (sign === "?") return 1;
  if (sign === "[") {
    const end = pattern.indexOf("]", at + 2);
    if (end !== -1) return inClass(pattern.slice(at + 1, end), letter) ? end - at + 1 : 0;
  }
  return sign === letter ? 1 : 0;
}

function inClass(content: string, letter: string): boolean {
  const isNegated = content.startsWith("!") || content.startsWith("^");
  const letters = isNegated ? content.slice(1) : content;
  let isIn = false;
  for (let at = 0; at < letters.length; at++) {
    if (letters[at + 1] === "-" && at + 2 < letters.length) {
      if (letter >= letters[at]! && letter <= letters[at + 2]!) isIn = true;
      at += 2;
    } else if (letters[at] === letter) isIn = true;
  }
  return isIn !== isNegated;
}

const mostAlternatives = 100;

function withoutBraces(pattern: string): string[] {
  let plain = [pattern];
  for (let round = 0; round < 8; round++) {
    let changed = false;
    plain = plain.flatMap((text) => {
      // The innermost pair first, so that nesting needs nothing more.
      const pair = /\{([^{}]*)\}/.exec(text);
      if (!pair) return [text];
      changed = true;
      return pair[1]!
        .split(",")
        .map((choice) => text.slice(0, pair.index) + choice + text.slice(pair.index + pair[0].length));
    });
    plain = plain.slice(0, mostAlternatives);
    if (!changed) break;
  }
  return plain;
}
