// RunQuestions: writes a run's questions into its log, where any client that follows the run may answer them.
import type { Answer, Human, Question, QuestionBody } from "../protocol/run.ts";
import type { Entry } from "./fleet.ts";

export class RunQuestions implements Human {
  readonly answers: readonly QuestionBody["type"][] = ["permission", "choices", "plan", "trust", "server", "hooks"];
  readonly #add: (entry: Entry) => void;
  readonly #asked = new Map<string, (answer: Answer) => void>();

  constructor(add: (entry: Entry) => void) {
    this.#add = add;
  }

  answer(question: string, answer: Answer): void {
    this.#asked.get(question)?.(answer);
  }

  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const close = (answer: Answer, told?: Answer) => {
        if (!this.#asked.delete(question.id)) return;
        signal.removeEventListener("abort", withdrawn);
        this.#add({ type: "question_closed", question: question.id, ...(told && { answer: told }) });
        resolve(answer);
      };
      const withdrawn = () => close({ type: "no", reason: "The answer is no longer needed." });
      this.#asked.set(question.id, (answer) => close(answer, answer));
      signal.addEventListener("abort", withdrawn, { once: true });
      this.#add({ type: "question", question });
      if (signal.aborted) withdrawn();
    });
  }
}
