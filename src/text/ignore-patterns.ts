// Parses an ignore file as git does. Matches it like globs, in linear time whatever the patterns.
import {
  type Effort,
  type GlobToken,
  matchesName,
  matchesNames,
  type Segment,
  setAt,
  splitPieces,
  tokenize,
} from "./glob.ts";

/**
 * Returns whether a relative path with slashes is ignored, or undefined if no pattern matches it. Returns "unknown" once so many patterns
 * were compared with so many paths that it would take too long.
 */
export type IgnoreList = (path: string, isDirectory: () => boolean) => boolean | "unknown" | undefined;

/** Limits for the number of comparisons, the first time and for each path: about a second, and some microseconds. */
const firstEffort = 200_000_000;
const effortOfPath = 1000;
const maxAnswers = 100_000;

/** `fold` ignores case. Git compares bytes, so its `?` matches less than a character; here it matches one. */
export function compileIgnoreList(text: string, { fold = false } = {}): IgnoreList {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  // The last match decides, so of equal lines only the last one counts.
  const patterns = [...new Set(lines.reverse())].flatMap(
    (line) => parseIgnoreLine(line.replace(/\r$/, ""), fold) ?? [],
  );
  const effort = { left: firstEffort };
  const decide = (names: readonly string[], isDirectory: () => boolean): boolean | undefined => {
    const found = patterns.find((each) => each.matches(names, effort) && (!each.onlyDirectories || isDirectory()));
    return found && !found.isNegated;
  };
  const folders = new Map<string, boolean>();
  const isIgnoredFolder = (names: readonly string[]): boolean => {
    const path = names.join("/");
    let ignored = folders.get(path);
    if (ignored === undefined) {
      ignored = (names.length > 1 && isIgnoredFolder(names.slice(0, -1))) || decide(names, () => true) === true;
      folders.set(path, ignored);
    }
    return ignored;
  };
  const answers = new Map<string, boolean | undefined>();
  return (path, isDirectory) => {
    if (answers.has(path)) return answers.get(path);
    effort.left += effortOfPath;
    if (effort.left < 0) return "unknown";
    const names = (fold ? path.toLowerCase() : path).split("/");
    // A path in an ignored directory cannot be re-included, because git never looks into the directory.
    let isLasting = true;
    const isFolder = () => {
      isLasting = false;
      return isDirectory();
    };
    const answer = names.length > 1 && isIgnoredFolder(names.slice(0, -1)) ? true : decide(names, isFolder);
    if (isLasting && answers.size < maxAnswers) answers.set(path, answer);
    return answer;
  };
}

type IgnorePattern = {
  isNegated: boolean;
  onlyDirectories: boolean;
  matches(names: readonly string[], effort: Effort): boolean;
};

function parseIgnoreLine(line: string, fold: boolean): IgnorePattern | undefined {
  if (line.startsWith("#")) return undefined;
  const isNegated = line.startsWith("!");
  // Trailing spaces do not count, unless a backslash precedes them.
  let end = line.length;
  while (line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  const onlyDirectories = line[end - 1] === "/";
  const body = line.slice(isNegated ? 1 : 0, onlyDirectories ? end - 1 : end);
  if (body === "" || isBroken(body)) return undefined;
  const segments = segmentsOf(tokenize(body.replace(/^\//, ""), { fold, brackets: true, escapes: true }));
  if (segments.some(isTooLong)) return undefined;
  const [only] = segments;
  return {
    isNegated,
    onlyDirectories,
    matches: body.includes("/")
      ? (names, effort) => matchesNames(segments, names, effort)
      : (names, effort) => only === "any" || matchesName(only!, names.at(-1)!, effort),
  };
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

/** Returns whether a pattern has an unclosed bracket or a trailing backslash, in which case git matches nothing. */
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

const longestName = 255;

/** Returns whether a pattern is longer than any file name, so that it matches nothing. */
function isTooLong(segment: Segment): boolean {
  return segment !== "any" && segment.reduce((sum, piece) => sum + piece.length, 0) > longestName;
}

function segmentsOf(tokens: readonly GlobToken[]): Segment[] {
  const segments: Segment[] = [];
  for (let start = 0, end = 0; end !== -1; start = end + 1) {
    end = tokens.indexOf("/", start);
    const pieces = splitPieces(tokens.slice(start, end === -1 ? undefined : end));
    const isAny = pieces.length > 2 && pieces.every((piece) => piece === "");
    segments.push(isAny ? "any" : pieces.filter((piece, at) => piece !== "" || at === 0 || at === pieces.length - 1));
  }
  // Two stars at the end match the contents of the directory but not the directory itself.
  if (segments.length > 1 && segments.at(-1) === "any") segments.push(["", ""]);
  return segments;
}
