// The inbox: all open questions of all runs. An answer includes the question as shown; the first answer counts.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Answer } from "../../../protocol/run.ts";
import { connection, questionKey, questions } from "../state/app.ts";
import { offerActions } from "../state/keys.ts";
import { askToNotify, mayNotify } from "../state/notifications.ts";
import { Asked, answerIt } from "./asked.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

export function Inbox() {
  useTitle("Inbox");
  const open = questions.value;
  const at = useQuestionKeys();
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
            <Asked key={questionKey(asked)} asked={asked} index={index} isChosen={index === at} />
          ))
        )}
      </div>
    </main>
  );
}

/** Handles the keys of the inbox: j and k select a question, y and x answer it. Returns the selected index. */
export function useQuestionKeys(): number {
  const open = questions.value;
  const chosen = useSignal(0);
  const at = Math.min(chosen.value, Math.max(0, open.length - 1));
  const choose = (index: number) => {
    chosen.value = Math.max(0, Math.min(open.length - 1, index));
    document.querySelector(`[data-question="${chosen.value}"]`)?.scrollIntoView({ block: "nearest" });
  };
  /** Keys can only answer questions for yes or no. */
  const answerChosen = (answer: Answer) => {
    const asked = open[at];
    if (asked && asked.question.type !== "choices") void answerIt(asked.run, asked.question, answer);
  };
  useEffect(() => {
    if (open.length === 0) return;
    return offerActions("inbox", [
      { id: "next-question", title: "Next question", keys: "j", run: () => choose(at + 1) },
      { id: "previous-question", title: "Previous question", keys: "k", run: () => choose(at - 1) },
      { id: "allow", title: "Allow this once", keys: "y", run: () => answerChosen({ type: "yes" }) },
      { id: "refuse", title: "Deny this", keys: "x", run: () => answerChosen({ type: "no" }) },
    ]);
  }, [at, open]);
  return at;
}
