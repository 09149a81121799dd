// Translates permission rules to Claude Code's syntax, for the settings of one run.
import { usageError } from "../../protocol/error-codes.ts";
import { parseRule, type RuleKind } from "../../protocol/permission-rule.ts";
import type { DriverCommand, DriverRequest } from "./driver.ts";

type Spelling = (pattern: string) => string[];

/** Claude Code writes absolute patterns with two leading slashes. */
const path = (pattern: string) => (pattern.startsWith("/") ? `/${pattern}` : pattern);

/** Converts a permission rule to rules of Claude Code. */
const spellings: Readonly<Record<RuleKind, Spelling>> = {
  Shell: (pattern) => {
    if (/^\*+$/.test(pattern)) return ["Bash"];
    const [program, args] = pattern.split(/:(.*)/s);
    return args === undefined ? [`Bash(${pattern}:*)`] : [`Bash(${program} ${args})`];
  },
  Read: (pattern) => [`Read(${path(pattern)})`],
  Write: (pattern) => [`Edit(${path(pattern)})`],
  WebFetch: (pattern) => [pattern === "*" ? "WebFetch" : `WebFetch(domain:${pattern})`],
  Mcp: (pattern) => {
    const [server = "", tool = "*"] = pattern.split(":");
    return server.includes("*") ? [] : [`mcp__${server}${tool === "*" ? "" : `__${tool}`}`];
  },
};

/** Converts permission rules to Claude's. Throws for a deny rule without a counterpart, which must not be dropped silently. */
export function claudeRules({ permissions = {} }: DriverRequest, { losses }: DriverCommand): object | undefined {
  const spelled = (list: "allow" | "deny") =>
    (permissions[list] ?? []).flatMap((text) => {
      const parsed = parseRule(text, { verdict: list, scope: "user", source: "" });
      const rules = "rule" in parsed ? spellings[parsed.rule.kind](parsed.rule.pattern) : [];
      if (rules.length > 0) return rules;
      if (list === "deny") throw usageError(`claude has no rule like ${text}, so permissions.deny cannot be enforced.`);
      losses.push({ option: "permissions", reason: `claude has no rule like ${text}.` });
      return [];
    });
  const [allow, deny] = [spelled("allow"), spelled("deny")];
  return allow.length + deny.length === 0 ? undefined : { allow, deny };
}
