// Defines Person: the user at the terminal, asked what no rule can decide. Absent in print mode, where no answer is invented.
import type { ChoiceItem as ChoiceQuestion, QuestionAnswer } from "../protocol/tool-shapes.ts";

export type { ChoiceQuestion };

export interface Person {
  /** Resolves to undefined when the user skipped the questions. */
  choose(
    title: string,
    questions: readonly ChoiceQuestion[],
    signal: AbortSignal,
  ): Promise<QuestionAnswer[] | undefined>;
  /** Resolves to undefined when the plan is accepted, else to the reason. */
  refusesPlan(plan: { name: string; text: string; file: string }, signal: AbortSignal): Promise<string | undefined>;
}
