// Parses an ignore file as git does. Matches it like globs, in linear time whatever the patterns.
import { type GlobToken, matchesName, matchesNames, piecesOf, type Segment, setAt, tokensOf } from "./glob.ts";

/** Returns whether a relative path with slashes is ignored, or undefined if no pattern matches it. */
export type IgnoreList = (path: string, isDirectory: () => boolean) => boolean | undefined;

/** `fold` ignores case. Git compares bytes, so its `?` matches less than a character; here it matches one. */
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
    // A path in an ignored directory cannot be re-included, because git never looks into the directory.
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
  // Trailing spaces do not count, unless a backslash precedes them.
  let end = line.length;
  while (line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  const onlyDirectories = line[end - 1] === "/";
  const body = line.slice(isNegated ? 1 : 0, onlyDirectories ? end - 1 : end);
  if (body === "" || isBroken(body)) return undefined;
  const segments = segmentsOf(tokensOf(body.replace(/^\//, ""), { fold, brackets: true, escapes: true }));
  const [only] = segments;
  return {
    isNegated,
    onlyDirectories,
    matches: body.includes("/")
      ? (names) => matchesNames(segments, names)
      : (names) => only === "any" || matchesName(only!, names.at(-1)!),
  };
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

/** With an unclosed bracket or a trailing backslash, git matches nothing. */
function isBroken(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === "\\" && ++at === pattern.length) return true;
    if (pattern[at] !== "[" || isEscaped(pattern, at)) continue;
    const set = setAt(pattern, at + 1);
    if (!set) return true;
    at = set.end - 1;
  }
  return false;
}

function segmentsOf(tokens: readonly GlobToken[]): Segment[] {
  const segments: Segment[] = [];
  let rest = tokens;
  for (let end = 0; end !== -1; rest = rest.slice(end + 1)) {
    end = rest.indexOf("/");
    const pieces = piecesOf(end === -1 ? rest : rest.slice(0, end));
    segments.push(pieces.length > 2 && pieces.every((piece) => piece === "") ? "any" : pieces);
  }
  // Two stars at the end match the contents of the directory, not the directory itself.
  if (segments.length > 1 && segments.at(-1) === "any") segments.push(["", ""]);
  return segments;
}
