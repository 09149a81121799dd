// Path patterns of rules: counted from a folder, some of them take away, and the name of a folder means all below it.
import { compilePath, expandBraces } from "../../policy/glob.ts";

export type PathMatcher = (path: string) => boolean;

/** Paths are relative, with slashes. A pattern with `!` takes away. */
export function pathMatcher(patterns: readonly string[]): PathMatcher {
  const wanted = patterns.filter((pattern) => !pattern.startsWith("!")).flatMap(testsOf);
  const unwanted = patterns.flatMap((pattern) => (pattern.startsWith("!") ? testsOf(pattern.slice(1)) : []));
  return (path) => wanted.some((test) => test(path)) && !unwanted.some((test) => test(path));
}

/** A pattern with too many alternatives matches nothing. */
function testsOf(pattern: string): PathMatcher[] {
  // One choice is a choice too: `*.{ts}`.
  const alternatives = expandBraces(pattern.replace(/\{([^{},]*)\}/g, "$1")) ?? [];
  return alternatives.map((each) => compilePath(whole(each), { brackets: true }));
}

function whole(pattern: string): string {
  const plain = pattern.replace(/^(?:\.?\/)+/, "").replace(/\/$/, "");
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  return /[*?[]/.test(last) ? plain : `${plain}/**`;
}
