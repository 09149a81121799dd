// Compiles the file patterns of the search tools, which match at any depth unless they start with `/` or `./`.
import { compilePath, expandBraces } from "../text/glob.ts";

/** Compiles a test for relative paths with slashes. Returns undefined when the pattern has too many alternatives. */
export function pathTest(pattern: string): ((path: string) => boolean) | undefined {
  const tests = expandBraces(pattern)?.map((each) =>
    compilePath(anchorPattern(each), { brackets: true, escapes: true }),
  );
  return tests && ((path) => tests.some((test) => test(path)));
}

/** Anchors a pattern that starts with `./` or `/` at the folder itself; others match at any depth. */
function anchorPattern(pattern: string): string {
  const parts = pattern
    .replace(/^\.?\//, "")
    .split("/")
    .filter((part) => part !== "");
  return (/^\.?\//.test(pattern) ? parts : ["**", ...parts]).join("/");
}

/** Returns the pattern of the last path component alone, which lets a search filter early. */
export function lastPart(pattern: string): string | undefined {
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  const isWhole = (last.match(/\{/g)?.length ?? 0) === (last.match(/\}/g)?.length ?? 0);
  return isWhole && last !== "" && last !== "**" ? last : undefined;
}

/** Returns text that every path matching the pattern contains, or "": it finds candidates in a long listing without taking it apart. */
export function neededText(pattern: string): string {
  if (/[[{\\]/.test(pattern)) return "";
  const literals = pattern.replace(/^\.?\//, "").split(/[*?/]+/);
  return literals.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
}
