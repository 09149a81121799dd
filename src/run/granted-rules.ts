// Rules that a person grants while a run works: proposed with the question, in force from the answer on, saved where asked.
import { decide, type Situation } from "../policy/decide.ts";
import type { Need } from "../policy/need.ts";
import { type RemedyWidth, remedyFor } from "../policy/remedy.ts";
import { parseRule, type Rule } from "../protocol/permission-rule.ts";
import { addRule } from "../store/rule-edit.ts";
import { cliConfigFile, projectConfigFile } from "../store/rule-files.ts";
import { keepConsent, type Proposed } from "./human.ts";

/** For how long: until the run ends, or saved among the rules of the project or the user. */
export type GrantScope = "run" | "project" | "user";

/** Where no rule is enough, none is proposed. `wider`: where they are other rules than the narrowest. */
export async function proposedRules(needs: readonly Need[], situation: Situation): Promise<Proposed> {
  const rules = await rulesThatAllow(needs, situation, "narrow");
  const wider = rules.length > 0 ? await rulesThatAllow(needs, situation, "wide") : [];
  return { rules, wider: wider.join() === rules.join() ? [] : wider };
}

/** Rules that would answer all of this. */
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

/** The rules as they hold in this run from now on. What cannot be saved holds for this run all the same. */
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
