// Asks the user one question at a time, each as a panel in place of the editor.
import type { Answer, Human, Question } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import { askChoices } from "./choices.ts";
import { askPermission } from "./permission.ts";
import { askHooks, askPlan, askServer, askTrust } from "./plain-questions.ts";

const refused: Answer = { type: "no", reason: "The user said no." };
const stopped: Answer = { type: "no", reason: "The run was stopped before there was an answer." };

/** Called when each question opens and closes, with the id of the tool call it is about. */
type Listeners = { asks(callId: string): void; answered(callId: string): void };

export function screenHuman(desk: Desk, { asks, answered }: Listeners): Human {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(question, signal) {
      const callId = question.type === "permission" ? question.callId : question.id;
      asks(callId);
      // Ask one question at a time, although calls run in parallel.
      const answer = last
        .then(() => (signal.aborted ? stopped : askOne(question, signal, desk)))
        .finally(() => answered(callId));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

async function askOne(question: Question, signal: AbortSignal, desk: Desk): Promise<Answer> {
  switch (question.type) {
    case "permission":
      return (await askPermission(question, signal, desk)) ?? refused;
    case "choices":
      return (await askChoices(question, signal, desk)) ?? { type: "choices", answers: [] };
    case "plan":
      return (await askPlan(question, signal, desk)) ?? refused;
    case "trust":
      return (await askTrust(question, signal, desk)) ?? refused;
    case "server":
      return (await askServer(question, signal, desk)) ?? refused;
    case "hooks":
      return (await askHooks(question, signal, desk)) ?? refused;
  }
}
