// courser/policy: may this be done?
export { decide, type Situation } from "./decide.ts";
export type { Decision, Need, Verdict } from "./need.ts";
export { floorOf, type Place, type ResolvedPath, resolvePath } from "./paths.ts";
export { parseRule, type Rule, type RuleKind, ruleKinds } from "./rules.ts";
export { type CommandDescription, describeCommand, parseShell, type ShellCommand, type ShellLine } from "./shell.ts";
