// Does one rule cover everything that another covers? Yes only where it is certain.
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath, expandBraces, hasWildcard, matchesText } from "../glob.ts";
import { coversUrl, hostPattern, judgeUrl } from "../network.ts";
import type { WorkspacePaths } from "../paths.ts";
import { absolutePattern, allowsCommand, coversMcp, deniesCommand, shellPattern } from "../rules.ts";

/** `outer` may be of either verdict, and is compared as that verdict is. */
export function shadows(outer: Rule, inner: Rule, paths: WorkspacePaths): boolean {
  if (outer.kind !== inner.kind) return false;
  switch (inner.kind) {
    case "Shell":
      return coversShell(outer, inner);
    case "Read":
    case "Write":
      return coversPaths(outer, inner, paths);
    case "WebFetch":
      return coversHosts(outer, inner);
    case "Mcp":
      return samplesOf(inner.pattern).every((each) => coversMcp(outer, each));
  }
}

/** The shortest command that the inner rule allows is asked about, and whether longer ones are covered as well. */
function coversShell(outer: Rule, inner: Rule): boolean {
  const wide = shellPattern(outer.pattern);
  const narrow = shellPattern(inner.pattern);
  if (wide.form === "any") return true;
  if (narrow.form === "any") return false;
  const covers = outer.verdict === "deny" ? deniesCommand : allowsCommand;
  if (narrow.form === "glob") {
    // A pattern for arguments names options that no plain rule covers.
    if (outer.verdict === "allow" && /-/.test(narrow.glob)) return false;
    if (hasWildcard(narrow.name)) return false;
    if (wide.form === "glob")
      return (
        matchesText(wide.name, narrow.name) && samplesOf(narrow.glob).every((each) => matchesText(wide.glob, each))
      );
    return wide.tokens.length === 1 && covers(outer, { name: narrow.name, args: [] });
  }
  const [name, ...args] = narrow.tokens;
  if (hasWildcard(narrow.tokens.join(" "))) return false;
  if (outer.verdict === "allow" && args.some((arg) => arg.startsWith("-"))) return false;
  // Whatever follows the words is covered only where the pattern ends openly.
  if (wide.form === "glob" && !wide.glob.endsWith("*")) return false;
  return covers(outer, { name: name!, args });
}

function coversPaths(outer: Rule, inner: Rule, paths: WorkspacePaths): boolean {
  const wide = absolutePattern(outer.pattern, paths);
  const covers = outer.verdict === "deny" ? compilePath(`${wide}/**`, { fold: true }) : compilePath(wide);
  return samplesOf(absolutePattern(inner.pattern, paths)).every(covers);
}

/** A rule without a port speaks of both usual ones. An address that another rule leaves closed is not covered by it. */
function coversHosts(outer: Rule, inner: Rule): boolean {
  const { host, port } = hostPattern(inner.pattern);
  const hosts = /^\*+$/.test(host) ? [`${odd}.a`, `${odd}.b`] : samplesOf(host);
  return hosts
    .flatMap((each) => (port === undefined ? [`http://${each}/`, `https://${each}/`] : [`http://${each}:${port}/`]))
    .every((url) => {
      if (!URL.canParse(url)) return false;
      if (outer.verdict === "deny") return coversUrl(outer, new URL(url));
      return judgeUrl(url, { mode: "default", rules: [outer] }).verdict === "allow";
    });
}

/** A letter that nobody has in a pattern: only a wildcard covers it. */
const odd = "\u{a763}";

/**
 * Texts that a pattern covers, of different lengths and depths: a pattern without a wildcard in the same place does not cover
 * them all.
 */
function samplesOf(pattern: string): string[] {
  return (expandBraces(pattern) ?? [pattern]).flatMap((each) => {
    const filled = (folders: string, letters: string) =>
      each
        .replace(/\/\*\*(?=\/|$)/g, folders)
        .replace(/\*+/g, letters)
        .replaceAll("?", odd);
    return [filled("", ""), filled(`/${odd}/${odd}`, `${odd}${odd}`)];
  });
}
