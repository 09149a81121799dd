// The rules of one kind and verdict. Made once for a list: a decision asks for them often, and lists can be long.
import type { Rule, RuleKind } from "../protocol/permission-rule.ts";

const lists = new WeakMap<readonly Rule[], Map<string, readonly Rule[]>>();

export function rulesFor(rules: readonly Rule[], kind: RuleKind, verdict: Rule["verdict"]): readonly Rule[] {
  const known = lists.get(rules) ?? new Map<string, readonly Rule[]>();
  lists.set(rules, known);
  const key = `${kind} ${verdict}`;
  const found = known.get(key) ?? rules.filter((rule) => rule.kind === kind && rule.verdict === verdict);
  known.set(key, found);
  return found;
}
