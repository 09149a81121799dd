// Parses permission rules for the adapter's tools, in the syntax of the permission files.
import { type Check, words } from "../../json/checks.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { parseRule, type Rule } from "../../protocol/permission-rule.ts";

export type RuleTexts = {
  /** Rules that allow, such as "Shell(git status)" or "WebFetch(*.example.com)". */
  allow?: readonly string[];
  /** Rules that deny; they override everything else. */
  deny?: readonly string[];
};

export const ruleChecks = { allow: words, deny: words } satisfies Record<keyof RuleTexts, Check>;

/** Parses permission rules, deny rules first. Throws a UserError for an invalid one, since no rule may be ignored. */
export function parseRules({ allow = [], deny = [] }: RuleTexts): Rule[] {
  const read = (verdict: Rule["verdict"]) => (text: string) => {
    const parsed = parseRule(text, { verdict, scope: "user", source: "the options" });
    if ("problem" in parsed) throw new UserError("CONFIG_INVALID", `${verdict}: ${parsed.problem}.`);
    return parsed.rule;
  };
  return [...deny.map(read("deny")), ...allow.map(read("allow"))];
}
