// courser/policy: the public API for permission decisions.
export { check, parseNeed } from "./check.ts";
export { decide, type Situation } from "./decide.ts";
export { type ExplainedCommand, type ExplainedPath, type Explanation, explain } from "./explain.ts";
export { type LintContext, type LintEntry, type LintKind, type LintProblem, lint } from "./lint/index.ts";
export type { Decision, Need, Verdict } from "./need.ts";
export { judgeUrl } from "./network.ts";
export {
  type CommandDescription,
  describeCommand,
  parseShell,
  type ShellCommand,
  type ShellLine,
} from "./parse/shell.ts";
export { floorOf, type ResolvedPath, resolvePath, type WorkspacePaths } from "./paths.ts";
export { remedyFor } from "./remedy.ts";
export { parseRule, type Rule, type RuleKind, ruleKinds } from "./rules.ts";
