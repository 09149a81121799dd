// Proposes and grants rules during a run: they come with the question, apply from the answer on, and are saved if asked.
import { decide, type Situation } from "../policy/decide.ts";
import type { Need } from "../policy/need.ts";
import { type RemedyWidth, remedyFor } from "../policy/remedy.ts";
import { parseRule, type Rule } from "../protocol/permission-rule.ts";
import { addRule } from "../store/rule-edit.ts";
import { cliConfigFile, projectConfigFile } from "../store/rule-files.ts";
import { keepConsent, type Proposed } from "./human.ts";

/** How long a rule applies: until the run ends, or saved to the rules of the project or the user. */
export type GrantScope = "run" | "project" | "user";

/** Proposes no rules where none would suffice. `wider` is empty when it equals the narrowest rules. */
export async function proposedRules(needs: readonly Need[], situation: Situation): Promise<Proposed> {
  const rules = await rulesThatAllow(needs, situation, "narrow");
  const wider = rules.length > 0 ? await rulesThatAllow(needs, situation, "wide") : [];
  return { rules, wider: wider.join() === rules.join() ? [] : wider };
}

/** Returns rules that would allow all of the needs. */
export async function rulesThatAllow(
  needs: readonly Need[],
  situation: Situation,
  width: RemedyWidth,
): Promise<string[]> {
  const texts = new Set<string>();
  for (const need of needs) {
    const { verdict, confined } = await decide([need], situation);
    if (verdict === "allow" && !confined) continue;
    const rules = await remedyFor(need, situation, width);
    if (rules.length === 0) return [];
    for (const rule of rules) texts.add(rule);
  }
  return [...texts];
}

/** Returns the rules that apply to this run from now on. Rules that cannot be saved still apply to this run. */
export function grantRules(
  texts: readonly string[],
  scope: GrantScope,
  { workspace, configDir, warn }: { workspace: string; configDir: string; warn(message: string): void },
): Rule[] {
  const file = scope === "project" ? projectConfigFile(workspace) : cliConfigFile(configDir);
  const origin = { verdict: "allow", scope: scope === "run" ? "user" : scope } as const;
  return texts.flatMap((text) => {
    const parsed = parseRule(text, { ...origin, source: scope === "run" ? "granted in this run" : file });
    if (!("rule" in parsed)) return [];
    if (scope !== "run")
      keepConsent(() => void addRule(file, { list: "allow", rule: text, scope }), `The rule ${text} applies`, warn);
    return [parsed.rule];
  });
}
