// The file patterns of the search tools: they match at any depth unless they say where they start.
import { compilePath, expandBraces } from "../policy/glob.ts";

/** Paths are relative, with slashes. Undefined when the pattern has too many alternatives. */
export function pathTest(pattern: string): ((path: string) => boolean) | undefined {
  const tests = expandBraces(pattern)?.map((each) => compilePath(placed(each), { brackets: true, escapes: true }));
  return tests && ((path) => tests.some((test) => test(path)));
}

/** `./` and `/` at the start mean the folder itself. */
function placed(pattern: string): string {
  const parts = pattern
    .replace(/^\.?\//, "")
    .split("/")
    .filter((part) => part !== "");
  return (/^\.?\//.test(pattern) ? parts : ["**", ...parts]).join("/");
}

/** The pattern for the last component alone: what a search can sort out early. */
export function lastPart(pattern: string): string | undefined {
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  const isWhole = (last.match(/\{/g)?.length ?? 0) === (last.match(/\}/g)?.length ?? 0);
  return isWhole && last !== "" && last !== "**" ? last : undefined;
}
