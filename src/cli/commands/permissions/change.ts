// `permissions allow`, `deny` and `remove`: change the rules in a configuration file. Agents are refused.
import { lint } from "../../../policy/lint/index.ts";
import { usageError } from "../../../protocol/error-codes.ts";
import { parseRule } from "../../../protocol/permission-rule.ts";
import { addRule, removeRule } from "../../../store/rule-edit.ts";
import { cliConfigFile, isRuleInForce, projectConfigFile, readRuleFiles } from "../../../store/rule-files.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { contextOf } from "./context.ts";
import { lintContext, problemText, withLines } from "./lint.ts";

export function allowRules(invocation: Invocation, words: readonly string[]): Promise<number> {
  return change("allow", invocation, words);
}

export function denyRules(invocation: Invocation, words: readonly string[]): Promise<number> {
  return change("deny", invocation, words);
}

/** Removes rules from both lists, matching them by their text. */
export async function removeRules(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "their own permissions");
  const { file, scope } = ruleFile(invocation);
  const changes = words.map((rule) => ({
    rule,
    removed: (["allow", "deny"] as const).filter((list) => removeRule(file, { list, rule, scope })),
  }));
  const missing = changes.filter(({ removed }) => removed.length === 0).map(({ rule }) => rule);
  if (missing.length === words.length) {
    const other = scope === "user" ? " For the project's own rules add --project." : "";
    throw usageError(
      `${missing.join(", ")}: no such rule in ${file}. The rules: ${invocation.name} permissions list.${other}`,
    );
  }
  if (wantsJson(invocation)) return answerJson({ file, changes });
  const lines = changes.map(({ rule, removed }) =>
    removed.length > 0 ? `✓ removed ${removed.join(" and ")} ${rule}  →  ${file}` : `${rule} is not in ${file}.`,
  );
  return answer(`${lines.join("\n")}\n`);
}

function ruleFile(invocation: Invocation): { file: string; scope: "project" | "user" } {
  const context = contextOf(invocation);
  const scope = invocation.line.flags.has("project") ? "project" : "user";
  return { file: scope === "project" ? projectConfigFile(context.workspace) : cliConfigFile(context.configDir), scope };
}

async function change(list: "allow" | "deny", invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "their own permissions");
  const context = contextOf(invocation);
  const { file, scope } = ruleFile(invocation);
  // Validate all rules before the first one is written.
  const texts = words.map((word) => {
    const parsed = parseRule(word, { verdict: list, scope, source: file });
    if ("problem" in parsed)
      throw usageError(`${parsed.problem.replace(/[?.]?$/, (end) => end || ".")} Nothing was changed.`);
    return parsed.rule.text;
  });
  const changes = texts.map((rule) => ({ rule, added: addRule(file, { list, rule, scope }) }));
  const { entries } = readRuleFiles(context);
  const problems = lint(withLines(entries), lintContext(invocation)).filter(
    (problem) => texts.includes(problem.rule) && problem.verdict === list,
  );
  const waits = !isRuleInForce({ verdict: list, scope, source: file }, context.trusted);
  if (waits)
    writeStderr("Warning: This workspace is not trusted, so the project's allow rules are ignored (--trust).\n");
  for (const problem of problems) writeStderr(`Warning: ${problemText(problem)}\n`);
  if (wantsJson(invocation)) return answerJson({ list, file, changes, problems });
  const lines = changes.map(({ rule, added }) =>
    added ? `✓ ${list} ${rule}  →  ${file}` : `${rule} is already in the ${list} list of ${file}.`,
  );
  return answer(`${lines.join("\n")}\n`);
}
