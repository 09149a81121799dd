// Lints permission rules: finds those that are misspelt, duplicate, shadowed, without effect, or too wide.
import { parseRule, type Rule, type RuleOrigin } from "../../protocol/permission-rule.ts";
import type { WorkspacePaths } from "../paths.ts";
import { deadRule, impossibleRule, wideRule } from "./checks.ts";
import { ruleShadows } from "./coverage.ts";

/**
 * `misspelt`: not a rule, or an unknown name. `impossible`: it can never match. `dead`: it changes nothing. `shadowed`: a deny rule covers
 * all of it. `duplicate`: it is there twice. `wide`: it allows much more than it seems to.
 */
export type LintKind = "misspelt" | "impossible" | "dead" | "shadowed" | "duplicate" | "wide";

/** A rule that does not do what its author probably meant. */
export type LintProblem = {
  kind: LintKind;
  rule: string;
  verdict: Rule["verdict"];
  file: string;
  line?: number;
  message: string;
  advice: string;
};

/** An entry of a rule list, whether or not it is a valid rule. A `Rule` is also an entry. */
export type LintEntry = RuleOrigin & { text: string; line?: number };

/** What rules are checked against: the paths and programs of this machine. */
export type LintContext = WorkspacePaths & {
  /** Returns whether a program is installed. Without it, names are compared with well-known ones only. */
  hasProgram?(name: string): boolean;
};

/** Finds rules that never match, contradict each other, or allow too much. */
export function lint(entries: readonly LintEntry[], context: LintContext): LintProblem[] {
  const read = entries.map((entry) => ({ entry, parsed: parseRule(entry.text, entry) }));
  const rules = read.flatMap(({ parsed }) => ("rule" in parsed ? [parsed.rule] : []));
  return read.flatMap(({ entry, parsed }) => {
    const finding = "rule" in parsed ? findingOf(parsed.rule, rules, context) : misspeltFinding(parsed.problem);
    if (!finding) return [];
    const { text, verdict, source, line } = entry;
    return [{ ...finding, rule: text, verdict, file: source, ...(line !== undefined && { line }) }];
  });
}

export type LintFinding = Pick<LintProblem, "kind" | "message" | "advice">;

function misspeltFinding(problem: string): LintFinding {
  const [what, meant] = problem.split(": did you mean ");
  const advice = meant ? `Write ${meant.replace(/\?$/, "")}.` : "Fix it, or remove it.";
  return { kind: "misspelt", message: `${what}.`, advice };
}

/** Returns only the first finding: an impossible rule is also dead, and one message is enough. */
function findingOf(rule: Rule, rules: readonly Rule[], context: LintContext): LintFinding | undefined {
  return (
    impossibleRule(rule, context) ??
    duplicateOf(rule, rules) ??
    shadowOf(rule, rules, context) ??
    uselessLifting(rule, rules, context) ??
    deadRule(rule, context) ??
    wideRule(rule, context) ??
    coveredBy(rule, rules, context)
  );
}

/** Reports the later of two equal rules. A project's rule may repeat a user's rule for users who do not have it. */
function duplicateOf(rule: Rule, rules: readonly Rule[]): LintFinding | undefined {
  const same = rules
    .slice(0, rules.indexOf(rule))
    .find(
      ({ verdict, kind, pattern, scope }) =>
        verdict === rule.verdict && kind === rule.kind && pattern === rule.pattern && scope === rule.scope,
    );
  return same && { kind: "duplicate", message: `It is already in ${same.source}.`, advice: "Remove one of them." };
}

function shadowOf(rule: Rule, rules: readonly Rule[], context: LintContext): LintFinding | undefined {
  if (rule.verdict === "deny") return undefined;
  const deny = rules.find((other) => other.verdict === "deny" && ruleShadows(other, rule, context));
  return (
    deny && {
      kind: "shadowed",
      message: `${deny.text} in ${deny.source} denies all of it, and deny rules win.`,
      advice: "Remove one of the two.",
    }
  );
}

/** Commands that no rule allows are sandboxed anyway, so an `unconfined` rule without an allow rule is useless. */
function uselessLifting(rule: Rule, rules: readonly Rule[], context: LintContext): LintFinding | undefined {
  if (rule.verdict !== "unconfined") return undefined;
  const asAllowed: Rule = { ...rule, verdict: "allow" };
  const meets = (other: Rule) =>
    other.pattern === rule.pattern || ruleShadows(other, asAllowed, context) || ruleShadows(asAllowed, other, context);
  if (rules.some((other) => other.verdict === "allow" && other.kind === "Shell" && meets(other))) return undefined;
  return {
    kind: "dead",
    message: "No allow rule covers it, so it does not run outside the sandbox anyway.",
    advice: `Allow it as well, or remove it.`,
  };
}

/** Finds a rule that another makes redundant. Of two that cover each other, reports the later. */
function coveredBy(rule: Rule, rules: readonly Rule[], context: LintContext): LintFinding | undefined {
  const wider = rules.find(
    (other, at) =>
      other.verdict === rule.verdict &&
      other.scope === rule.scope &&
      other.pattern !== rule.pattern &&
      ruleShadows(other, rule, context) &&
      (at < rules.indexOf(rule) || !ruleShadows(rule, other, context)),
  );
  return (
    wider && {
      kind: "dead",
      message: `${wider.text} in ${wider.source} covers all of it.`,
      advice: "Remove it, or remove the wider one.",
    }
  );
}
