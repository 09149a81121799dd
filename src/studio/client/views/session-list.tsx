// The items of the session list: waiting and running ones first, then sessions by day.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ListedSession, OpenQuestion, RunEnd, RunRecord, SessionState } from "../../../serve/api.ts";
import { counted, dollars } from "../../../view/numbers.ts";
import { Counts } from "../../components/counts.tsx";
import { baseName, clock, dayGroup, moment } from "../model/figures.ts";
import { activity } from "../state/activity.ts";
import {
  filter,
  foundFor,
  listError,
  listed,
  liveRuns,
  loadSessions,
  questions,
  runs,
  sessions,
  titleOf,
} from "../state/app.ts";
import { now } from "../state/now.ts";
import { addressOf, place } from "../state/router.ts";
import { summaryOf, wantSummaries } from "../state/summaries.ts";
import { Mark, StateWord } from "./mark.tsx";

/** A list item: a session, or a run that has none yet. */
type Item = {
  key: string;
  href: string;
  title: string;
  agent: string;
  state: SessionState;
  /** Shown at the right: the running time, or the cost if it ended. */
  figure: ComponentChildren;
  /** Shown below the title: the current activity, or the result. */
  line: ComponentChildren;
  snippet?: string;
};

/** How many of the first items load a summary. */
const maxSummaries = 60;

export function List() {
  const found = sessions.value;
  useEffect(() => void wantSummaries((found ?? []).slice(0, maxSummaries)), [found]);
  place.value; // subscribes to which item is the current one
  if (listError.value !== undefined)
    return (
      <div class="empty small">
        <p>The list cannot be loaded: {listError.value}</p>
        <button type="button" onClick={() => void loadSessions()}>
          Try again
        </button>
      </div>
    );
  if (!found) return <Skeleton />;
  const isSearching = foundFor.value !== filter.value;
  // Until the search result arrives, show only known sessions that match.
  const shown = isSearching ? found.filter(fitsFilter) : found;
  const groups = grouped(shown);
  if (groups.size === 0 && isSearching)
    return (
      <p class="searching soft" role="status">
        Searching …
      </p>
    );
  if (groups.size === 0)
    return (
      <div class="empty small">
        {isFiltered() ? (
          <>
            <p>No matches.</p>
            <button type="button" onClick={clearFilter}>
              Show all sessions
            </button>
          </>
        ) : (
          <p>No sessions yet.</p>
        )}
      </div>
    );
  return (
    <>
      {[...groups].map(([name, items]) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          {items.map((item) => (
            <Line key={item.key} item={item} />
          ))}
        </section>
      ))}
      {found.length >= listed.value && (
        <button
          type="button"
          class="quiet more"
          onClick={() => {
            listed.value += 200;
            void loadSessions();
          }}
        >
          Older sessions
        </button>
      )}
    </>
  );
}

function Line({ item }: { item: Item }) {
  const isChosen = location.pathname === item.href || location.pathname.startsWith(`${item.href}/`);
  return (
    <a
      class={`item${isChosen ? " chosen" : ""}`}
      href={item.href}
      aria-current={isChosen ? "page" : undefined}
      title={item.title}
    >
      <Mark agent={item.agent} />
      <span class="item-title">{item.title}</span>
      <span class="item-figure">{item.figure}</span>
      <span class="item-line">{item.line}</span>
      {item.snippet && <span class="item-snippet">{item.snippet}</span>}
    </a>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Loading sessions">
      {[70, 52, 80, 60, 74, 45].map((width) => (
        <div key={width}>
          <i style={{ width: `${width}%` }} />
          <i style={{ width: `${width / 2}%` }} />
        </div>
      ))}
    </div>
  );
}

/** Live runs are never hidden by a filter of time or state, only by words, agents and projects. */
function grouped(found: readonly ListedSession[]): Map<string, Item[]> {
  const time = Date.now();
  const groups = new Map<string, Item[]>([
    ["Waiting for you", []],
    ["Running", []],
  ]);
  const add = (group: string, item: Item) => groups.set(group, [...(groups.get(group) ?? []), item]);
  const liveGroup = ({ state }: Item) => (state === "waiting" ? "Waiting for you" : "Running");
  const live = new Map(liveRuns.value.flatMap((run) => (run.sessionId ? [[run.sessionId, run] as const] : [])));
  const known = new Set(found.map(({ id }) => id));
  if (!isFiltered())
    for (const run of liveRuns.value)
      if (!run.sessionId || !known.has(run.sessionId)) add(liveGroup(runItem(run)), runItem(run));
  for (const session of found) {
    const item = sessionItem(session, live.get(session.id), time);
    const isLive = item.state === "running" || item.state === "waiting";
    add(isLive ? liveGroup(item) : dayGroup(session.updatedAt, time), item);
  }
  // Runs of a fleet have their sessions on the workers' machines; a run that did not start has none.
  if (!isFiltered())
    for (const run of runs.value.values())
      if (run.end && (run.spec.source || run.sessionId === undefined) && !known.has(run.sessionId ?? ""))
        add(dayGroup(run.endedAt ?? run.createdAt, time), endedRunItem(run, run.end, time));
  return new Map([...groups].filter(([, items]) => items.length > 0));
}

function sessionItem(session: ListedSession, run: RunRecord | undefined, time: number): Item {
  const state = run ? (run.open > 0 ? "waiting" : "running") : session.run ? "done" : session.state;
  const place = {
    key: `${session.tool}-${session.id}`,
    href: addressOf({ type: "session", tool: session.tool, id: session.id, tab: "timeline" }),
    title: titleOf(session, run) ?? session.title,
    agent: session.agent,
    ...(session.snippet !== undefined && { snippet: session.snippet }),
  };
  if (run) return { ...place, ...liveParts(run) };
  const summary = summaryOf(session);
  const when = moment(session.updatedAt, time);
  return {
    ...place,
    state,
    figure: summary?.costUsd ? dollars(summary.costUsd) : "",
    line: (
      <>
        <StateWord state={state} isShort={state === "done"} />{" "}
        {state === "running" ? "in another window" : <Outcome session={session} />} · {when}
      </>
    ),
  };
}

function Outcome({ session }: { session: ListedSession }) {
  const summary = summaryOf(session);
  if (!summary || summary.files === 0) return <>{baseName(session.workspace ?? "") || session.agent}</>;
  return (
    <>
      {counted(summary.files, "file")} <Counts added={summary.added} removed={summary.removed} />
    </>
  );
}

function liveParts(run: RunRecord): Pick<Item, "state" | "figure" | "line"> {
  return {
    state: run.open > 0 ? "waiting" : "running",
    figure:
      run.open > 0 ? (
        <StateWord state="waiting" />
      ) : run.state === "queued" ? (
        "queued"
      ) : (
        <Elapsed since={run.startedAt ?? run.createdAt} />
      ),
    line: <Doing run={run} />,
  };
}

/** A separate component, so that the list is not rendered again with every step of a run. */
function Doing({ run }: { run: RunRecord }) {
  const line = activity.value.get(run.id);
  const asked = questions.value.find((each) => each.run === run.id);
  const words = asked ? questionLine(asked) : line ? [line.name, line.text].filter(Boolean).join(" ") : "";
  return <>{words || baseName(run.spec.request.workspace)}</>;
}

function questionLine({ question }: OpenQuestion): string {
  if (question.type === "permission") return question.needs[0]?.target ?? question.tool;
  return question.type === "choices" ? question.title : question.type === "plan" ? question.name : "";
}

function Elapsed({ since }: { since: number }) {
  return <span class="accent">{clock(now.value - since)}</span>;
}

function runItem(run: RunRecord): Item {
  return {
    key: run.id,
    href: addressOf({ type: "run", id: run.id, tab: "timeline" }),
    title: run.spec.prompt.text.split("\n")[0]!,
    agent: run.spec.cli,
    ...liveParts(run),
  };
}

function endedRunItem(run: RunRecord, { outcome, costUsd }: RunEnd, time: number): Item {
  const state = outcome === "finished" ? "done" : outcome === "error" ? "failed" : "interrupted";
  return {
    ...runItem(run),
    state,
    figure: costUsd ? dollars(costUsd) : "",
    line: (
      <>
        <StateWord state={state} /> · {moment(run.endedAt ?? run.createdAt, time)}
      </>
    ),
  };
}

/** Applies the filter to what the list knows. */
function fitsFilter({ title, agent, workspace, state }: ListedSession): boolean {
  const wanted = filter.value;
  const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    words.every((word) => title.toLowerCase().includes(word)) &&
    (wanted.agent === "" || wanted.agent === agent) &&
    (wanted.project === "" || wanted.project === workspace) &&
    (wanted.state === "" || wanted.state === state)
  );
}

export function isFiltered(): boolean {
  const { search, agent, project, state, days } = filter.value;
  return Boolean(search.trim() || agent || project || state || days);
}

function clearFilter(): void {
  filter.value = { search: "", agent: "", project: "", state: "", days: 0 };
  for (const field of document.querySelectorAll<HTMLInputElement>("input[type=search]")) field.value = "";
}
