// The patterns of an ignore file, as git reads them. Each star is settled by the first place where what follows it fits, and
// nothing is tried twice: however a pattern is written, it is matched in linear time.

/** Whether a path, relative and with slashes, is ignored; undefined where no pattern speaks of it. */
export type IgnoreList = (path: string, isDirectory: () => boolean) => boolean | undefined;

/** `fold`: upper and lower case are the same. Git compares bytes, so that its `?` is less than a character: here it is one. */
export function compileIgnoreList(text: string, { fold = false } = {}): IgnoreList {
  const patterns = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .flatMap((line) => patternOf(line.replace(/\r$/, ""), fold) ?? [])
    .reverse();
  const decide = (names: readonly string[], isDirectory: () => boolean): boolean | undefined => {
    const found = patterns.find((each) => each.matches(names) && (!each.onlyDirectories || isDirectory()));
    return found && !found.isNegated;
  };
  return (path, isDirectory) => {
    const names = (fold ? path.toLowerCase() : path).split("/");
    // What lies in an ignored directory cannot be taken back: the directory is never looked into.
    for (let depth = 1; depth < names.length; depth++) {
      if (decide(names.slice(0, depth), () => true)) return true;
    }
    return decide(names, isDirectory);
  };
}

type IgnorePattern = { isNegated: boolean; onlyDirectories: boolean; matches(names: readonly string[]): boolean };

function patternOf(line: string, fold: boolean): IgnorePattern | undefined {
  if (line.startsWith("#")) return undefined;
  const isNegated = line.startsWith("!");
  // Blanks at the end do not count, unless a backslash stands before them.
  let end = line.length;
  while (line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  const onlyDirectories = line[end - 1] === "/";
  const body = line.slice(isNegated ? 1 : 0, onlyDirectories ? end - 1 : end);
  if (body === "") return undefined;
  const hasSlash = body.includes("/");
  const segments = segmentsOf(body.replace(/^\//, ""), fold);
  if (!segments) return undefined;
  const [only] = segments;
  return {
    isNegated,
    onlyDirectories,
    matches: hasSlash
      ? (names) => matchesNames(segments, names)
      : (names) => only === "any" || matchesName(only!, names.at(-1)!),
  };
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

/** One character of a name: itself, any, or one of a set. */
type One = string | ((character: string) => boolean);
/** What stands between two stars, before the first and after the last. */
type Piece = readonly One[] | string;
type Segment = readonly Piece[] | "any";

/** Undefined for a pattern that git never finds anything with: an open bracket, a backslash at the end. */
function segmentsOf(pattern: string, fold: boolean): Segment[] | undefined {
  const segments: Segment[] = [];
  let pieces: One[][] = [[]];
  let stars = 0;
  const close = () => {
    const isAny = stars > 1 && pieces.every((piece) => piece.length === 0);
    segments.push(isAny ? "any" : pieces.map(asText));
    pieces = [[]];
    stars = 0;
  };
  const text = fold ? pattern.toLowerCase() : pattern;
  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at)!);
    at += character.length;
    if (character === "/") close();
    else if (character === "*") {
      stars++;
      pieces.push([]);
    } else if (character === "?") pieces.at(-1)!.push(() => true);
    else if (character === "[") {
      // The set is read as it is written: a class of capitals has lost its meaning in lower case.
      const set = setAt(pattern, at, fold);
      if (!set) return undefined;
      pieces.at(-1)!.push(set.has);
      at = set.end;
    } else if (character === "\\") {
      if (at === text.length) return undefined;
      const escaped = String.fromCodePoint(text.codePointAt(at)!);
      at += escaped.length;
      if (escaped === "/") close();
      else pieces.at(-1)!.push(escaped);
    } else pieces.at(-1)!.push(character);
  }
  close();
  // Two stars at the end stand for what is in the directory, not for the directory itself.
  if (segments.length > 1 && segments.at(-1) === "any") segments.push(["", ""]);
  return segments;
}

function asText(piece: readonly One[]): Piece {
  return piece.every((one) => typeof one === "string") ? piece.join("") : piece;
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

/** The set that was opened before `start`, and where it ends. Undefined: it is not closed, or names an unknown class. */
function setAt(text: string, start: number, fold: boolean) {
  const tests: ((character: string) => boolean)[] = [];
  const isNegated = text[start] === "!" || text[start] === "^";
  const first = start + (isNegated ? 1 : 0);
  let from: string | undefined;
  for (let at = first; ; ) {
    let character = characterAt(text, at);
    if (character === undefined) return undefined;
    if (character === "]" && at > first) {
      const isIn = (each: string) => tests.some((test) => test(each));
      const has = fold ? (each: string) => isIn(each) || isIn(each.toUpperCase()) : isIn;
      return { end: at + 1, has: isNegated ? (each: string) => !has(each) : has };
    }
    const named = character === "[" && text[at + 1] === ":" ? /\[:([^\]]*):\]/y : undefined;
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

function characterAt(text: string, at: number): string | undefined {
  return at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : undefined;
}

/** Components of a path: "any" stands for any number of them, and the first place where the rest fits is as good as another. */
function matchesNames(segments: readonly Segment[], names: readonly string[]): boolean {
  let at = 0;
  let index = 0;
  let again: { at: number; index: number } | undefined;
  while (index < names.length) {
    const segment = segments[at];
    if (segment === "any") again = { at: ++at, index };
    else if (segment !== undefined && matchesName(segment, names[index]!)) {
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

function matchesName(pieces: readonly Piece[], name: string): boolean {
  const [first, ...rest] = pieces;
  const last = rest.pop();
  let at = endOf(first!, name, 0);
  if (last === undefined) return at === name.length;
  for (const piece of rest) {
    if (at === -1) return false;
    at = endOfNext(piece, name, at);
  }
  return at !== -1 && fitsAtEnd(last, name, at);
}

/** Where the piece ends that begins at `from`; -1 where it is not there. */
function endOf(piece: Piece, name: string, from: number): number {
  if (typeof piece === "string") return name.startsWith(piece, from) ? from + piece.length : -1;
  let at = from;
  for (const one of piece) {
    const character = characterAt(name, at);
    if (character === undefined || !(typeof one === "string" ? one === character : one(character))) return -1;
    at += character.length;
  }
  return at;
}

function endOfNext(piece: Piece, name: string, from: number): number {
  if (typeof piece === "string") {
    const found = name.indexOf(piece, from);
    return found === -1 ? -1 : found + piece.length;
  }
  for (let at = from; at < name.length; at++) {
    const end = endOf(piece, name, at);
    if (end !== -1) return end;
  }
  return -1;
}

function fitsAtEnd(piece: Piece, name: string, from: number): boolean {
  if (typeof piece === "string") return name.length - piece.length >= from && name.endsWith(piece);
  // Characters may be two units long: so many before the end, at most twice as many.
  const least = Math.max(from, name.length - 2 * piece.length);
  for (let at = name.length - piece.length; at >= least; at--) {
    if (endOf(piece, name, at) === name.length) return true;
  }
  return false;
}
