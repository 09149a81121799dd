// May this be done? The answer, its reasons, and an exit code for scripts.
import { decide } from "../../../policy/decide.ts";
import type { Decision, Verdict } from "../../../policy/need.ts";
import { printable } from "../../call-line.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { needOf, quoted, situationOf } from "./context.ts";

export const exitCodes: Record<Verdict, number> = { allow: 0, ask: 3, deny: 4 };

export async function checkPermission(invocation: Invocation, words: readonly string[]): Promise<number> {
  const need = needOf(words, invocation);
  const situation = await situationOf(invocation, need);
  const decision = await decide([need], situation);
  const { remedyFor } = await import("../../../policy/remedy.ts");
  const remedy = await remedyFor(need, situation);
  const code = wantsJson(invocation)
    ? await answerJson({ ...need, ...plainDecision(decision), ...(remedy.length > 0 && { remedy }) })
    : await answer(`${verdictLine(decision)}\n${reasonLines(decision, remedy, invocation.name)}`);
  return code === 0 ? exitCodes[decision.verdict] : code;
}

/** Without what only the tools need. */
function plainDecision({ approved: _approved, mayRead: _mayRead, ...decision }: Decision): object {
  return decision;
}

export function verdictLine({ verdict, confined }: Pick<Decision, "verdict" | "confined">): string {
  return confined ? `${verdict}, in the sandbox` : verdict;
}

export function reasonLines(
  { reasons, confined }: Pick<Decision, "reasons" | "confined">,
  remedy: readonly string[],
  name: string,
): string {
  const lines = reasons.map((reason) => `  ${printable(reason)}`);
  const aim = confined ? "To run it unconfined" : "To allow it";
  if (remedy.length > 0) lines.push(`  ${aim}: ${name} permissions allow ${remedy.map(quoted).join(" ")}`);
  return `${lines.join("\n")}\n`;
}
