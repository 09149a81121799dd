// The home view: open questions, live runs, recent sessions and figures of the last days, below the composer.
import { useEffect } from "preact/hooks";
import type { ListedSession, RunRecord } from "../../../serve/api.ts";
import { counted, dollars, duration } from "../../../view/numbers.ts";
import { DaysChart } from "../../components/charts.tsx";
import { Counts } from "../../components/counts.tsx";
import { clock, moment } from "../model/figures.ts";
import { activity, costs, watchCosts } from "../state/activity.ts";
import { agents, connection, liveRuns, questionKey, questions, recent, sessionTitle } from "../state/app.ts";
import { now } from "../state/now.ts";
import { addressOf } from "../state/router.ts";
import { days, loadDays, sessionSummary, wantSummaries } from "../state/summaries.ts";
import { Asked } from "./asked.tsx";
import { useQuestionKeys } from "./inbox.tsx";
import { StateWord } from "./mark.tsx";
import { NewRunComposer } from "./new-run.tsx";
import { Row } from "./row.tsx";
import { runsWithoutSession, stateOfEnd } from "./session-list.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

export { Inbox } from "./inbox.tsx";

const maxEnded = 8;

export function Home({ isNew }: { isNew: boolean }) {
  useTitle(isNew ? "New run" : "");
  const at = useQuestionKeys();
  useEffect(watchCosts, []);
  const waiting = questions.value;
  const running = liveRuns.value.filter(({ open }) => open === 0);
  return (
    <main id="main" class="middle" tabIndex={-1}>
      <TopBar />
      <h1 class="cr-unseen">Board</h1>
      <div class="scroll board">
        <NewRunComposer hasFocus={isNew} />
        <div class="board-columns">
          <div class="board-now">
            {waiting.length > 0 && (
              <section>
                <h2>
                  Waiting for you <span class="soft">{waiting.length}</span>
                </h2>
                {waiting.map((asked, index) => (
                  <Asked
                    key={questionKey(asked)}
                    asked={asked}
                    index={index}
                    isChosen={waiting.length > 1 && index === at}
                  />
                ))}
              </section>
            )}
            <section>
              <h2>
                Running <span class="soft">{running.length > 0 && running.length}</span>
              </h2>
              {running.map((run) => (
                <RunningRow key={run.id} run={run} />
              ))}
              {running.length === 0 && <p class="soft">{nothingRuns(waiting.length)}</p>}
            </section>
          </div>
          <div class="board-past">
            <Today />
            <Ended />
          </div>
        </div>
      </div>
    </main>
  );
}

function nothingRuns(waiting: number): string {
  if (connection.value !== "open") return "Connecting to the service …";
  return waiting > 0 ? "Nothing else runs." : "Nothing runs. What you start above, or in a terminal, is shown here.";
}

function RunningRow({ run }: { run: RunRecord }) {
  const { name, text = run.state === "queued" ? "Waits for its turn" : "Working" } = activity.value.get(run.id) ?? {};
  const cost = costs.value.get(run.id);
  const time = run.state === "queued" ? "queued" : clock(now.value - (run.startedAt ?? run.createdAt));
  return (
    <Row
      href={addressOf({ type: "run", id: run.id, tab: "timeline" })}
      agent={run.spec.cli}
      title={sessionTitle(undefined, run)}
      workspace={run.spec.request.workspace}
      figure={[time, cost && dollars(cost)].filter(Boolean).join(" · ")}
    >
      {name && <b>{name} </b>}
      {name ? <code>{text}</code> : text}
    </Row>
  );
}

function Today() {
  const endings = recent.value?.length;
  useEffect(loadDays, [endings, liveRuns.value.length]);
  const all = days.value;
  const today = all?.at(-1);
  if (all?.every(({ runs }) => runs === 0)) return null;
  return (
    <section class="board-today">
      <h2>
        Today <span class="soft">{today && counted(today.runs, "session")}</span>
      </h2>
      {all && today && (
        <>
          <dl class="today">
            <Figure value={`${today.done} / ${today.failed} / ${today.stopped}`} name="done · failed · stopped" />
            <Figure value={dollars(today.costUsd)} name="cost" />
            <Figure value={duration(today.durationMs)} name="agents worked" />
          </dl>
          <DaysChart days={all} />
        </>
      )}
    </section>
  );
}

function Figure({ value, name }: { value: string; name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Ended() {
  const live = new Set(liveRuns.value.flatMap(({ sessionId }) => sessionId ?? []));
  const found = recent.value?.filter(({ id, state }) => !live.has(id) && state !== "running");
  const ended = found?.slice(0, maxEnded) ?? [];
  const oldest = ended.length < maxEnded ? 0 : ended.at(-1)!.updatedAt;
  const lost = runsWithoutSession().filter(({ endedAt, createdAt }) => (endedAt ?? createdAt) >= oldest);
  useEffect(() => wantSummaries(ended), [recent.value]);
  if (!found) return null;
  const rows = [
    ...ended.map((session) => ({ at: session.updatedAt, row: <EndedRow session={session} /> })),
    ...lost.map((run) => ({ at: run.endedAt ?? run.createdAt, row: <LostRow run={run} /> })),
  ].sort((one, other) => other.at - one.at);
  return (
    <section>
      <h2>Ended last</h2>
      {rows.slice(0, maxEnded).map(({ row }) => row)}
      {rows.length === 0 && (
        <p class="soft">
          No sessions yet. What agents did, what they changed and what it cost is shown here, by day
          {agents.value.length > 1 && ", of every agent on this machine"}.
        </p>
      )}
    </section>
  );
}

/** A run whose session is not on this machine, or that did not even begin. */
function LostRow({ run }: { run: RunRecord }) {
  const { spec, end, sessionId, endedAt, createdAt } = run;
  const href = addressOf({ type: "run", id: run.id, tab: "timeline" });
  const isDone = end?.outcome === "finished";
  return (
    <Row href={href} agent={spec.cli} title={sessionTitle(undefined, run)} workspace={spec.request.workspace} figure="">
      <StateWord state={stateOfEnd(run)} word={sessionId === undefined && !isDone ? "did not begin" : undefined} />
      {" · "}
      {moment(endedAt ?? createdAt, now.value)} · {isDone ? end.text.split("\n")[0] : <a href={href}>try again</a>}
      {!isDone && ` · ${end?.text ?? ""}`}
    </Row>
  );
}

function EndedRow({ session }: { session: ListedSession }) {
  const { tool, id, state, agent, workspace } = session;
  const summary = sessionSummary(session);
  const href = (tab: "timeline" | "changes") => addressOf({ type: "session", tool, id, tab });
  const figure = summary?.costUsd ? dollars(summary.costUsd) : "";
  return (
    <Row
      href={href("timeline")}
      agent={agent}
      title={sessionTitle(session, undefined)}
      workspace={workspace}
      figure={figure}
    >
      <StateWord state={state} /> · {moment(session.updatedAt, now.value)}
      {summary && " · "}
      {state === "failed" && summary && (
        <>
          <a href={href("timeline")}>try again</a> · {summary.last}
        </>
      )}
      {state !== "failed" && summary && summary.files === 0 && (summary.last || "no changes")}
      {state !== "failed" && summary && summary.files > 0 && (
        <>
          {counted(summary.files, "file")} <Counts added={summary.added} removed={summary.removed} /> ·{" "}
          <a href={href("changes")}>review</a>
        </>
      )}
    </Row>
  );
}
