// The home view: open questions, live runs, recent sessions and figures of the last days, below the composer.
import { useEffect } from "preact/hooks";
import type { ListedSession, RunRecord } from "../../../serve/api.ts";
import { counted, dollars, duration } from "../../../view/numbers.ts";
import { DaysChart } from "../../components/charts.tsx";
import { Counts } from "../../components/counts.tsx";
import { baseName, clock, moment } from "../model/figures.ts";
import { activity } from "../state/activity.ts";
import { agents, connection, keyOf, liveRuns, questions, runs, sessions, titleOf } from "../state/app.ts";
import { now } from "../state/now.ts";
import { addressOf } from "../state/router.ts";
import { days, loadDays, summaryOf, wantSummaries } from "../state/summaries.ts";
import { Asked } from "./asked.tsx";
import { useQuestionKeys } from "./inbox.tsx";
import { Mark, StateWord } from "./mark.tsx";
import { NewRunComposer } from "./new-run.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

export { Inbox } from "./inbox.tsx";

const maxEnded = 8;

export function Home({ isNew }: { isNew: boolean }) {
  useTitle(isNew ? "New run" : "");
  const at = useQuestionKeys();
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
                  <Asked key={keyOf(asked)} asked={asked} index={index} isChosen={waiting.length > 1 && index === at} />
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
  const line = activity.value.get(run.id);
  const since = run.startedAt ?? run.createdAt;
  return (
    <a class="row" href={addressOf({ type: "run", id: run.id, tab: "timeline" })}>
      <Mark agent={run.spec.cli} />
      <span class="row-title">
        <span>{titleOf(undefined, run)}</span>
        <span class="soft">{baseName(run.spec.request.workspace)}/</span>
      </span>
      <span class="row-figure">{run.state === "queued" ? "queued" : clock(now.value - since)}</span>
      <span class="row-line">
        {line?.name && <b>{line.name} </b>}
        {line ? (
          line.name ? (
            <code>{line.text}</code>
          ) : (
            line.text
          )
        ) : run.state === "queued" ? (
          "Waits for a host"
        ) : (
          "Working"
        )}
      </span>
    </a>
  );
}

function Today() {
  const endings = sessions.value?.length;
  useEffect(() => {
    const timer = setTimeout(() => void loadDays(), days.value ? 1500 : 0);
    return () => clearTimeout(timer);
  }, [endings, liveRuns.value.length]);
  const all = days.value;
  const today = all?.at(-1);
  if (!all || !today) return null;
  return (
    <section>
      <h2>
        Today <span class="soft">{counted(today.runs, "session")}</span>
      </h2>
      <dl class="today">
        <Figure value={`${today.done} / ${today.failed} / ${today.stopped}`} name="done · failed · stopped" />
        <Figure value={dollars(today.costUsd)} name="cost" />
        <Figure value={duration(today.durationMs)} name="agents worked" />
      </dl>
      <DaysChart days={all} />
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
  const found = sessions.value?.filter(({ id, state }) => !live.has(id) && state !== "running");
  const ended = found?.slice(0, maxEnded) ?? [];
  const lost = [...runs.value.values()].filter(({ end, sessionId }) => end && sessionId === undefined).slice(0, 3);
  useEffect(() => void wantSummaries(ended), [sessions.value]);
  if (!found) return null;
  return (
    <section>
      <h2>Ended last</h2>
      {lost.map((run) => (
        <a key={run.id} class="row" href={addressOf({ type: "run", id: run.id, tab: "timeline" })}>
          <Mark agent={run.spec.cli} />
          <span class="row-title">
            <span>{titleOf(undefined, run)}</span>
          </span>
          <span class="row-figure">{moment(run.endedAt ?? run.createdAt, now.value)}</span>
          <span class="row-line">
            <span class="bad">✕ did not begin</span> · {run.end!.text}
          </span>
        </a>
      ))}
      {ended.map((session) => (
        <EndedRow key={`${session.tool} ${session.id}`} session={session} />
      ))}
      {ended.length === 0 && lost.length === 0 && (
        <p class="soft">
          No sessions yet. {agents.value.length > 1 && "Sessions of every agent on this machine are listed here."}
        </p>
      )}
    </section>
  );
}

function EndedRow({ session }: { session: ListedSession }) {
  const summary = summaryOf(session);
  return (
    <a class="row" href={addressOf({ type: "session", tool: session.tool, id: session.id, tab: "timeline" })}>
      <Mark agent={session.agent} />
      <span class="row-title">
        <span>{session.title}</span>
        {session.workspace && <span class="soft">{baseName(session.workspace)}/</span>}
      </span>
      <span class="row-figure">
        {summary?.costUsd ? dollars(summary.costUsd) : moment(session.updatedAt, now.value)}
      </span>
      <span class="row-line">
        <StateWord state={session.state} />
        {summary && (
          <>
            {" · "}
            {session.state === "failed" ? (
              summary.last
            ) : summary.files > 0 ? (
              <>
                {counted(summary.files, "file")} <Counts added={summary.added} removed={summary.removed} />
              </>
            ) : (
              summary.last || "no changes"
            )}
          </>
        )}
      </span>
    </a>
  );
}
