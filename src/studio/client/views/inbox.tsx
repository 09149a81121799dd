// The inbox: everything that waits for an answer, over all runs. An answer names what was shown; the first one counts.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Answer, Question } from "../../../protocol/run.ts";
import type { OpenQuestion } from "../../../serve/api.ts";
import { BlockView, QuestionCard, View } from "../../components/index.ts";
import { baseName, moment } from "../model/figures.ts";
import { answerQuestion, connection, questions, runs, runTitle } from "../state/app.ts";
import { offer } from "../state/keys.ts";
import { attempt } from "../state/layout.ts";
import { askToNotify, mayNotify } from "../state/notifications.ts";
import { addressOf } from "../state/router.ts";
import { agentName } from "./sidebar.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

export function Inbox() {
  useTitle("Inbox");
  const open = questions.value;
  const chosen = useSignal(0);
  const at = Math.min(chosen.value, Math.max(0, open.length - 1));
  useEffect(
    () =>
      offer("inbox", [
        { id: "next-question", title: "Next question", keys: "j", run: () => choose(at + 1) },
        { id: "previous-question", title: "Previous question", keys: "k", run: () => choose(at - 1) },
        { id: "allow", title: "Allow this once", keys: "y", run: () => answerChosen({ type: "yes" }) },
        { id: "refuse", title: "Refuse this", keys: "x", run: () => answerChosen({ type: "no" }) },
      ]),
    [at, open],
  );
  const choose = (index: number) => {
    chosen.value = Math.max(0, Math.min(open.length - 1, index));
    document.querySelector(`[data-question="${chosen.value}"]`)?.scrollIntoView({ block: "nearest" });
  };
  /** Keys answer what can be answered by yes or no. */
  const answerChosen = (answer: Answer) => {
    const asked = open[at];
    if (asked && asked.question.type !== "choices") void answer_(asked.run, asked.question, answer);
  };
  return (
    <main id="main" class="middle" tabIndex={-1}>
      <TopBar />
      <header class="head">
        <div class="head-line">
          <h1>Inbox</h1>
          <span class="head-facts">{open.length === 0 ? "" : `${open.length} waiting for you`}</span>
          <span class="head-numbers">
            {mayNotify.value === "default" && (
              <button type="button" class="quiet" onClick={() => void askToNotify()}>
                Notify me
              </button>
            )}
            {mayNotify.value === "granted" && "Notifications are on"}
          </span>
        </div>
      </header>
      <div class="scroll">
        {open.length === 0 ? (
          <div class="empty">
            <h2>No open questions</h2>
            <p>
              {connection.value === "open" ? "Questions from all runs appear here." : "Connecting to the service …"}
            </p>
          </div>
        ) : (
          open.map((asked, index) => (
            <Asked key={`${asked.run}-${asked.question.id}`} asked={asked} index={index} isChosen={index === at} />
          ))
        )}
      </div>
    </main>
  );
}

function answer_(run: string, question: Question, answer: Answer): Promise<unknown> {
  return attempt(() => answerQuestion(run, question, answer));
}

function Asked({ asked, index, isChosen }: { asked: OpenQuestion; index: number; isChosen: boolean }) {
  const isSent = useSignal(false);
  const run = runs.value.get(asked.run);
  const { question } = asked;
  const workspace = run?.spec.request.workspace;
  const onAnswer = async (given: Question, answer: Answer) => {
    isSent.value = true;
    await answer_(asked.run, given, answer);
    isSent.value = false;
  };
  return (
    <article class={`asked${isChosen ? " chosen" : ""}`} data-question={index}>
      <p class="asked-by">
        <a href={addressOf({ type: "run", id: asked.run, tab: "timeline" })}>{runTitle(asked.run)}</a>
        <span class="soft">
          {[run && agentName(run.spec.cli), workspace && baseName(workspace), moment(asked.at, Date.now())]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </p>
      <View {...(workspace !== undefined && { workspace })}>
        {question.type === "permission" ? (
          <BlockView block={callOf(question)} question={question} onAnswer={onAnswer} isSent={isSent.value} />
        ) : (
          <QuestionCard question={question} onAnswer={onAnswer} isSent={isSent.value} />
        )}
      </View>
    </article>
  );
}

/** The call that it is about, as the timeline would show it. */
function callOf(question: Extract<Question, { type: "permission" }>) {
  const { callId, tool, args } = question;
  return { id: callId, turn: 0, type: "call" as const, call: { callId, tool: wireName(tool), args, isRunning: true } };
}

/** Questions name a tool as the model calls it. */
function wireName(tool: string): string {
  const names: Record<string, string> = {
    Read: "read",
    Write: "edit",
    Edit: "edit",
    Delete: "delete",
    Shell: "shell",
    LS: "ls",
    Glob: "glob",
    Grep: "grep",
    WebFetch: "webFetch",
    WebSearch: "webSearch",
  };
  return names[tool] ?? tool;
}
