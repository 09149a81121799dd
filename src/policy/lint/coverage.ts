// Does one rule cover everything that another covers? Yes only where it is certain.
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath, hasWildcard, matchesText } from "../glob.ts";
import type { Place } from "../paths.ts";
import { absolutePattern, allowsCommand, coversMcp, deniesCommand, shellPattern } from "../rules.ts";

/** `outer` may be of either verdict, and is compared as that verdict is. */
export function shadows(outer: Rule, inner: Rule, place: Place): boolean {
  if (outer.kind !== inner.kind) return false;
  switch (inner.kind) {
    case "Shell":
      return coversShell(outer, inner);
    case "Read":
    case "Write":
      return coversPaths(outer, inner, place);
    case "WebFetch":
      return coversHosts(outer.pattern.toLowerCase(), inner.pattern.toLowerCase());
    case "Mcp":
      return coversMcp(outer, inner.pattern);
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
    if (wide.form === "glob") return matchesText(wide.name, narrow.name) && matchesText(wide.glob, narrow.glob);
    return wide.tokens.length === 1 && covers(outer, { name: narrow.name, args: [] });
  }
  const [name, ...args] = narrow.tokens;
  if (hasWildcard(narrow.tokens.join(" "))) return false;
  if (outer.verdict === "allow" && args.some((arg) => arg.startsWith("-"))) return false;
  // Whatever follows the words is covered only where the pattern ends openly.
  if (wide.form === "glob" && !wide.glob.endsWith("*")) return false;
  return covers(outer, { name: name!, args });
}

/** The inner pattern is taken for a path: a wildcard covers the letters of a narrower one. */
function coversPaths(outer: Rule, inner: Rule, place: Place): boolean {
  const wide = absolutePattern(outer.pattern, place);
  const narrow = absolutePattern(inner.pattern, place);
  if (outer.verdict === "deny") return compilePath(`${wide}/**`, { fold: true })(narrow);
  // `*` has to cover `**` as well, which it does not.
  if (narrow.includes("**") && !/(^|\/)\*\*$/.test(wide)) return wide === narrow;
  return compilePath(wide)(narrow);
}

function coversHosts(outer: string, inner: string): boolean {
  if (outer === inner || /^\*+$/.test(outer)) return true;
  return outer.startsWith("*.") && inner.endsWith(outer.slice(1));
}
