// An open question, wherever it is shown: which run asks, what would be done, and the answers.
import { useSignal } from "@preact/signals";
import type { Answer, Question } from "../../../protocol/run.ts";
import type { OpenQuestion } from "../../../serve/api.ts";
import { QuestionCard } from "../../components/question.tsx";
import { View } from "../../components/view-options.tsx";
import { baseName, formatAge } from "../model/figures.ts";
import { answerQuestion, runs, runTitle } from "../state/app.ts";
import { attempt } from "../state/layout.ts";
import { now } from "../state/now.ts";
import { addressOf } from "../state/router.ts";
import { Mark } from "./mark.tsx";

export function answerIt(run: string, question: Question, answer: Answer): Promise<unknown> {
  return attempt(() => answerQuestion(run, question, answer));
}

export function Asked({ asked, index, isChosen }: { asked: OpenQuestion; index: number; isChosen: boolean }) {
  const isSent = useSignal(false);
  const run = runs.value.get(asked.run);
  const workspace = run?.spec.request.workspace;
  const title = runTitle(asked.run);
  const onAnswer = async (given: Question, answer: Answer) => {
    isSent.value = true;
    await answerIt(asked.run, given, answer);
    isSent.value = false;
  };
  return (
    <article class={`asked${isChosen ? " chosen" : ""}`} data-question={index} aria-label={title}>
      <p class="asked-by">
        {run && <Mark agent={run.spec.cli} />}
        <a href={addressOf({ type: "run", id: asked.run, tab: "timeline" })}>{title}</a>
        <span class="soft">{workspace && `${baseName(workspace)}/`}</span>
        <span class="soft asked-when">{formatAge(asked.at, now.value)}</span>
      </p>
      <View {...(workspace !== undefined && { workspace })}>
        <QuestionCard question={asked.question} onAnswer={onAnswer} isSent={isSent.value} />
      </View>
    </article>
  );
}
