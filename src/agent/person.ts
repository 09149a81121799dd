// Person: who sits in front of the terminal, for what no rule can decide. Absent in print mode: then nothing is made up.
import type { Question as ChoiceQuestion, QuestionAnswer } from "../protocol/tool-shapes.ts";

export type { ChoiceQuestion };

export interface Person {
  /** Undefined where the questions were passed over. */
  choose(
    title: string,
    questions: readonly ChoiceQuestion[],
    signal: AbortSignal,
  ): Promise<QuestionAnswer[] | undefined>;
  /** Undefined: accepted; else why not. */
  refusesPlan(plan: { name: string; text: string; file: string }, signal: AbortSignal): Promise<string | undefined>;
}
