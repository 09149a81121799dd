// Checks whether one rule covers everything that another covers. Returns true only if that is certain.
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath, expandBraces, hasWildcard, matchesText } from "../../text/glob.ts";
import { coversUrl, hostPattern, judgeUrl } from "../network.ts";
import type { WorkspacePaths } from "../paths.ts";
import { absolutePattern, allowsCommand, coversMcp, deniesCommand, shellPattern } from "../rules.ts";

/** Returns whether `outer` matches everything that `inner` matches, with the matching of its own verdict, allow or deny. */
export function ruleShadows(outer: Rule, inner: Rule, paths: WorkspacePaths): boolean {
  if (outer.kind !== inner.kind) return false;
  if (inner.kind === "Shell") return coversShell(outer, inner);
  if (inner.kind === "WebFetch") return coversHosts(outer, inner);
  if (inner.kind === "Mcp") return samplesOf(inner.pattern).every((each) => coversMcp(outer, each));
  return coversPaths(outer, inner, paths);
}

/** Tests the shortest command that the inner rule allows, and whether longer ones are covered as well. */
function coversShell(outer: Rule, inner: Rule): boolean {
  const wide = shellPattern(outer.pattern);
  const narrow = shellPattern(inner.pattern);
  if (wide.form === "any") return true;
  if (narrow.form === "any") return false;
  const covers = outer.verdict === "deny" ? deniesCommand : allowsCommand;
  if (narrow.form === "glob") {
    // A pattern for arguments may allow options, which no plain rule covers.
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
  // Further arguments are covered only if the pattern ends in a wildcard.
  if (wide.form === "glob" && !wide.glob.endsWith("*")) return false;
  return covers(outer, { name: name!, args });
}

function coversPaths(outer: Rule, inner: Rule, paths: WorkspacePaths): boolean {
  const wide = absolutePattern(outer.pattern, paths);
  const covers = outer.verdict === "deny" ? compilePath(`${wide}/**`, { fold: true }) : compilePath(wide);
  return samplesOf(absolutePattern(inner.pattern, paths)).every(covers);
}

/** A rule without a port covers both default ports. It does not cover an address that it leaves closed. */
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

/** A letter that no pattern contains: only a wildcard matches it. */
const odd = "\u{a763}";

/** Returns sample texts that a pattern matches. Another pattern matches them all only if it has a wildcard in the same place. */
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
