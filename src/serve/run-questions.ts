// RunQuestions: writes a run's questions into its log, where any client that follows the run may answer them.
import { deferred } from "../protocol/deferred.ts";
import { onAbort } from "../protocol/on-abort.ts";
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

  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    const given = deferred<Answer | undefined>();
    this.#asked.set(question.id, given.resolve);
    this.#add({ type: "question", question });
    const forget = onAbort(signal, () => given.resolve(undefined));
    const answer = await given.promise;
    forget();
    this.#asked.delete(question.id);
    this.#add({ type: "question_closed", question: question.id, ...(answer && { answer }) });
    return answer ?? { type: "no", reason: "The answer is no longer needed." };
  }
}
