// `permissions list`: prints the rules that apply here, their sources, and the limits that no flag lifts.

import type { Rule } from "../../../policy/rules.ts";
import { isRuleInForce, readRuleFiles, rulesIn } from "../../../store/rule-files.ts";
import { builtInRules, loadSettings } from "../../../store/settings.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { contextOf } from "./context.ts";
import { withLines } from "./lint.ts";
import { beyondForce, protectedPathGroups } from "./protected.ts";

type ListedRule = Pick<Rule, "verdict" | "text" | "scope" | "source"> & { line?: number; counts: boolean };

export async function listPermissions(invocation: Invocation): Promise<number> {
  const context = contextOf(invocation);
  const { approvalMode, autoRun, warnings } = loadSettings(context);
  const { entries } = readRuleFiles(context);
  for (const warning of warnings) writeStderr(`Warning: ${warning}\n`);
  const listedRules = new Set(rulesIn(entries, []).map(({ source, entry }) => `${source} ${entry}`));
  const rules = [
    ...withLines(entries.filter((each) => listedRules.has(`${each.source} ${each.entry}`))),
    ...builtInRules(context.configDir),
  ]
    .map(({ verdict, text, scope, source, ...rest }): ListedRule => {
      const line = "line" in rest ? rest.line : undefined;
      return {
        verdict,
        text,
        scope,
        source,
        ...(line !== undefined && { line }),
        counts: isRuleInForce({ verdict, scope, source }, context.trusted),
      };
    })
    .sort((one, other) => (one.verdict === other.verdict ? 0 : one.verdict === "deny" ? -1 : 1));
  if (wantsJson(invocation)) {
    const { workspace, trusted } = context;
    const floor = protectedPathGroups.map(({ what, level }) => ({ what, level }));
    return answerJson({ workspace, trusted, approvalMode, rules, autoRun, floor, notLiftedByForce: beyondForce });
  }
  return answer(
    [
      ...titledRows("Deny rules, which always win", ruleRows(rules, "deny")),
      ...titledRows("Allow rules", ruleRows(rules, "allow")),
      ...(rules.some(({ verdict }) => verdict === "unconfined")
        ? titledRows("Never confined, although the chat has changed the workspace", ruleRows(rules, "unconfined"))
        : []),
      ...(approvalMode === "allowlist" ? [] : titledRows("Approval mode", [approvalMode])),
      ...titledRows(
        "Protected in every mode; only a rule of yours that names one file of the workspace exactly lifts it",
        protectedPathGroups.filter(({ level }) => level === "protected").map(({ what }) => what),
      ),
      ...titledRows(
        "Never written, whatever the rules",
        protectedPathGroups.filter(({ level }) => level === "never").map(({ what }) => what),
      ),
      ...titledRows("What --force does not override", beyondForce),
    ]
      .join("\n")
      .concat("\n"),
  );
}

function ruleRows(rules: readonly ListedRule[], verdict: Rule["verdict"]): string[] {
  const wanted = rules.filter((rule) => rule.verdict === verdict);
  const width = Math.min(40, Math.max(0, ...wanted.map(({ text }) => text.length)));
  return wanted.map(({ text, source, line, counts }) => {
    const context = `${source}${line === undefined ? "" : `, line ${line}`}`;
    return visible(`${text.padEnd(width)}  ${context}${counts ? "" : "  (is ignored: this workspace is not trusted)"}`);
  });
}

function titledRows(title: string, rows: readonly string[]): string[] {
  return [`${title}:`, ...(rows.length > 0 ? rows : ["none"]).map((row) => `  ${row}`), ""];
}
