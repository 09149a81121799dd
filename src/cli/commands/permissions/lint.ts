// `permissions lint`: finds rules that do not do what they seem to do, each with its place and advice.
import { delimiter, join } from "node:path";
import { type LintContext, type LintEntry, type LintProblem, lint } from "../../../policy/lint/index.ts";
import { findProgram } from "../../../process/find-program.ts";
import { entryLines, type RuleEntry, readRuleFiles } from "../../../store/rule-files.ts";
import { visible } from "../../../text/visible.ts";
import { counted } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { contextOf } from "./context.ts";

export async function lintPermissions(invocation: Invocation): Promise<number> {
  const context = contextOf(invocation);
  const { entries, warnings } = readRuleFiles(context);
  const problems = lint(withLines(entries), lintContext(invocation));
  const found = problems.length + warnings.length;
  for (const warning of warnings) writeStderr(`Warning: ${warning}\n`);
  const code = wantsJson(invocation)
    ? await answerJson({ rules: entries.length, problems, warnings })
    : await answer(problemsText(problems, entries.length));
  return code === 0 && found > 0 ? 1 : code;
}

export function lintContext(invocation: Invocation): LintContext {
  const context = contextOf(invocation);
  // npx and npm scripts also find programs in the project's node_modules/.bin.
  const folders = [...(invocation.env["PATH"] ?? "").split(delimiter), join(context.workspace, "node_modules/.bin")];
  return { ...context, hasProgram: (name) => findProgram(name, { PATH: folders.join(delimiter) }) !== undefined };
}

export function withLines(entries: readonly RuleEntry[]): LintEntry[] {
  const files = new Map([...new Set(entries.map(({ source }) => source))].map((file) => [file, entryLines(file)]));
  return entries.map((entry) => {
    const line = files.get(entry.source)!(entry.entry);
    return { ...entry, ...(line !== undefined && { line }) };
  });
}

function problemsText(problems: readonly LintProblem[], rules: number): string {
  const checked = counted(rules, "rule");
  if (problems.length === 0) return `✓ ${checked}, no problems found.\n`;
  return `${[...problems.map(problemText), `${checked}, ${problems.length} to look at.`].join("\n")}\n`;
}

export function problemText({ kind, verdict, rule, file, line, message, advice }: LintProblem): string {
  const context = `${file}${line === undefined ? "" : `:${line}`}`;
  return visible(`${context}: ${kind}: ${verdict} ${rule}\n  ${message} ${advice}`);
}
