// What the tools of the adapter may do: rules in the words of the permission files.
import { type Check, words } from "../../json/checks.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { parseRule, type Rule } from "../../protocol/permission-rule.ts";

export type RuleTexts = {
  /** Such as "Shell(git status)", "WebFetch(*.example.com)". */
  allow?: readonly string[];
  /** Wins over everything. */
  deny?: readonly string[];
};

export const ruleChecks = { allow: words, deny: words } satisfies Record<keyof RuleTexts, Check>;

/** Throws UserError: a rule that is not understood must not be passed over. */
export function parseRules({ allow = [], deny = [] }: RuleTexts): Rule[] {
  const read = (verdict: Rule["verdict"]) => (text: string) => {
    const parsed = parseRule(text, { verdict, scope: "user", source: "the options" });
    if ("problem" in parsed) throw new UserError("CONFIG_INVALID", `${verdict}: ${parsed.problem}.`);
    return parsed.rule;
  };
  return [...deny.map(read("deny")), ...allow.map(read("allow"))];
}
