// `permissions check`: prints whether a call is allowed and why, or the whole decision as a tree; the exit code is for scripts.
import { decide } from "../../../policy/decide.ts";
import { type ExplainedCommand, type ExplainedPath, type Explanation, explain } from "../../../policy/explain.ts";
import type { Decision, Verdict } from "../../../policy/need.ts";
import { remedyFor } from "../../../policy/remedy.ts";
import type { Rule } from "../../../policy/rules.ts";
import { entryLines } from "../../../store/rule-files.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { parseNeedArgument, quoteForShell, situationOf } from "./context.ts";

const exitCodes: Record<Verdict, number> = { allow: 0, ask: 3, deny: 4 };

export async function checkPermission(invocation: Invocation, words: readonly string[]): Promise<number> {
  const need = parseNeedArgument(words, invocation);
  const situation = await situationOf(invocation, need);
  const decision = await decide([need], situation);
  const { approved: _approved, mayRead: _mayRead, ...plain } = decision; // omit the fields that only tools need
  const remedy = await remedyFor(need, situation);
  const code = wantsJson(invocation)
    ? await answerJson({ ...need, ...plain, ...(remedy.length > 0 && { remedy }) })
    : await answer(`${verdictLine(decision)}\n${reasonLines(decision, remedy, invocation.name)}`);
  return code === 0 ? exitCodes[decision.verdict] : code;
}

function verdictLine({ verdict, confined }: Pick<Decision, "verdict" | "confined">): string {
  return confined ? `${verdict}, in the sandbox` : verdict;
}

function reasonLines(
  { reasons, confined }: Pick<Decision, "reasons" | "confined">,
  remedy: readonly string[],
  name: string,
): string {
  const lines = reasons.map((reason) => `  ${visible(reason)}`);
  const aim = confined ? "To run it unconfined" : "To allow it";
  if (remedy.length > 0) lines.push(`  ${aim}: ${name} permissions allow ${remedy.map(quoteForShell).join(" ")}`);
  return `${lines.join("\n")}\n`;
}

export async function explainPermission(invocation: Invocation, words: readonly string[]): Promise<number> {
  const need = parseNeedArgument(words, invocation);
  const situation = await situationOf(invocation, need);
  const explanation = await explain(need, situation);
  const remedy = await remedyFor(need, situation);
  const code = wantsJson(invocation)
    ? await answerJson({ ...withLines(explanation), ...(remedy.length > 0 && { remedy }) })
    : await answer(explanationText(explanation, remedy, invocation.name));
  return code === 0 ? exitCodes[explanation.verdict] : code;
}

const laterWords =
  "  Once the chat has changed the workspace it runs in the sandbox, with the network open. To keep it out of there, add its rule to permissions.unconfined in your cli-config.json.\n";

function explanationText(explanation: Explanation, remedy: readonly string[], name: string): string {
  const { need, commands = [], writes = [], unseen = [], path, rules } = explanation;
  const parts = [`${visible(`${need.kind}: ${need.target}`)}\n${commands.flatMap(treeLines(commands)).join("\n")}`];
  if (path) parts.push(pathLine(path));
  if (writes.length > 0) parts.push(["Writes:", ...writes.map((each) => `  ${pathLine(each)}`)].join("\n"));
  if (unseen.length > 0)
    parts.push(["Not known before it runs:", ...unseen.map((each) => `  ${visible(each)}`)].join("\n"));
  if (rules.length > 0)
    parts.push(["Rules that mention it:", ...rules.map((rule) => `  ${ruleLine(rule)}`)].join("\n"));
  const later = explanation.confinedLater && !explanation.confined ? laterWords : "";
  parts.push(`${verdictLine(explanation)}\n${reasonLines(explanation, remedy, name)}${later}`);
  return parts
    .map((part) => part.trimEnd())
    .join("\n\n")
    .concat("\n");
}

function treeLines(siblings: readonly ExplainedCommand[], indent = ""): (node: ExplainedCommand) => string[] {
  return (node) => {
    const isLast = node === siblings.at(-1);
    const { command, verdict, where, redirects, reason, runs } = node;
    const commandLine = [command, ...(redirects.length > 0 && !/^[<>]/.test(command) ? redirects : [])].join(" ");
    const context = where.length > 0 ? `  (${where.join(", ")})` : "";
    const head = `${indent}${isLast ? "└─" : "├─"} `;
    const below = `${indent}${isLast ? "   " : "│  "}`;
    return [
      `${head}${verdict.padEnd(5)} ${withMarkedBreaks(commandLine)}${context}`,
      `${below}${runs.length > 0 ? "│" : " "}     ${withMarkedBreaks(reason)}`,
      ...runs.flatMap(treeLines(runs, below)),
    ];
  };
}

function pathLine({ given, real, inWorkspace, floor, rule }: ExplainedPath): string {
  if (real === undefined) return `${visible(given)}: only the shell knows where it leads`;
  const remarks = [inWorkspace ? "in the workspace" : "outside the workspace", floor, rule && ruleLine(rule)];
  const leads = real === given ? given : `${given} → ${real}`;
  return visible(`${leads}: ${remarks.filter(Boolean).join("; ")}`);
}

function ruleLine(rule: Rule): string {
  const line = entryLines(rule.source)(rule.entry);
  return `${rule.verdict} ${rule.text}  ${rule.source}${line === undefined ? "" : `, line ${line}`}`;
}

function withMarkedBreaks(text: string): string {
  return visible(text).replace(/\n/g, "⏎");
}

function withLines(explanation: Explanation): Explanation {
  return JSON.parse(JSON.stringify(explanation), (_, value: unknown) => {
    const { source, entry } = (value ?? {}) as Partial<Rule>;
    if (source === undefined || entry === undefined) return value;
    const line = entryLines(source)(entry);
    return { ...(value as Rule), ...(line !== undefined && { line }) };
  }) as Explanation;
}
