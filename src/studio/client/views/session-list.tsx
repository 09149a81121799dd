// The items of the session list: waiting and running ones first, then sessions by day.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import type { ListedSession, OpenQuestion, RunEnd, RunRecord, SessionState } from "../../../serve/api.ts";
import { documentText } from "../../../view/document-text.ts";
import { counted, dollars } from "../../../view/numbers.ts";
import { Counts } from "../../components/counts.tsx";
import { baseName, clock, dayGroup, moment } from "../model/figures.ts";
import { activity } from "../state/activity.ts";
import {
  filter,
  foundFor,
  isNarrowed,
  listError,
  listed,
  liveRuns,
  loadSessions,
  questions,
  runs,
  sessions,
  sessionTitle,
} from "../state/app.ts";
import { now } from "../state/now.ts";
import { addressOf, place } from "../state/router.ts";
import { sessionSummary, wantSummaries } from "../state/summaries.ts";
import { Mark, StateWord } from "./mark.tsx";

/** An item of the list: a session, or a run that has no session yet. */
type Item = {
  key: string;
  /** The id of the session, or of the run if it has no session yet. */
  id: string;
  href: string;
  title: string;
  agent: string;
  state: SessionState;
  /** Shown on the right: how long it has been running, or what it cost once it has ended. */
  figure: ComponentChildren;
  /** The line below the title: what the run is doing, or its result. */
  line: ComponentChildren;
  snippet?: string;
};

/** For how many items at the top of the list a summary is loaded. */
const maxSummaries = 60;

export function List() {
  const found = sessions.value;
  useEffect(() => wantSummaries((found ?? []).slice(0, maxSummaries)), [found]);
  // An item that moves to another group, or becomes that of a session, is a new element: the focus is given back to it.
  const focused = document.activeElement?.closest<HTMLElement>(".item")?.dataset["id"];
  useLayoutEffect(() => {
    if (focused === undefined || document.activeElement !== document.body) return;
    const ids = [focused, runs.value.get(focused)?.sessionId];
    const items = [...document.querySelectorAll<HTMLElement>(".item")];
    items.find((item) => ids.includes(item.dataset["id"]))?.focus({ preventScroll: true });
  });
  place.value; // reading this subscribes to which item is the current one
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
  // Until the search result arrives, show the known sessions that match.
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
  const where = place.value;
  // If the run has a session, it is shown by the session's item.
  const session = where.type === "run" ? runs.value.get(where.id)?.sessionId : undefined;
  const isChosen = `${location.pathname}/`.startsWith(`${item.href}/`) || (session && item.key.endsWith(`-${session}`));
  return (
    <a
      class={`item${isChosen ? " chosen" : ""}`}
      href={item.href}
      data-id={item.id}
      aria-current={isChosen ? "page" : undefined}
      title={item.title}
    >
      <Mark agent={item.agent} />
      <span class="item-title" dir="auto">
        {item.title}
      </span>
      <span class="item-figure">{item.figure}</span>
      <span class="item-line">{item.line}</span>
      {item.snippet && <span class="item-snippet">{documentText(item.snippet)}</span>}
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
  const addRuns = (state: RunRecord["state"]) => {
    for (const run of isFiltered() ? [] : liveRuns.value)
      if (run.state === state && !known.has(run.sessionId ?? "")) add(liveGroup(runItem(run)), runItem(run));
  };
  addRuns("running");
  // Runs of a fleet have their sessions on the workers' machines; a run that did not start has none.
  const ended = isFiltered() ? [] : runsWithoutSession().filter(({ sessionId }) => !known.has(sessionId ?? ""));
  const addEndedSince = (at: number) => {
    while (ended[0] && runEndTime(ended[0]) >= at) {
      const run = ended.shift()!;
      add(dayGroup(runEndTime(run), time), endedRunItem(run, run.end!, time));
    }
  };
  for (const session of found) {
    addEndedSince(session.updatedAt);
    const item = sessionItem(session, live.get(session.id), time);
    const isLive = item.state === "running" || item.state === "waiting";
    add(isLive ? liveGroup(item) : dayGroup(session.updatedAt, time), item);
  }
  addRuns("queued");
  // Add runs that ended, but only back to the oldest listed session if older ones were not loaded.
  addEndedSince(found.length < listed.value ? 0 : (found.at(-1)?.updatedAt ?? 0));
  return new Map([...groups].filter(([, items]) => items.length > 0));
}

function runEndTime({ endedAt, createdAt }: RunRecord): number {
  return endedAt ?? createdAt;
}

/** Runs that are over and have no session on this machine, the newest first. */
export function runsWithoutSession(): RunRecord[] {
  return [...runs.value.values()]
    .filter(({ end, spec, sessionId }) => end && (spec.source || sessionId === undefined))
    .sort((one, other) => runEndTime(other) - runEndTime(one));
}

function sessionItem(session: ListedSession, run: RunRecord | undefined, time: number): Item {
  const state = run ? (run.open > 0 ? "waiting" : "running") : session.run ? "done" : session.state;
  const place = {
    key: `${session.tool}-${session.id}`,
    id: session.id,
    href: addressOf({ type: "session", tool: session.tool, id: session.id, tab: "timeline" }),
    title: sessionTitle(session, run) ?? session.title,
    agent: session.agent,
    ...(session.snippet !== undefined && { snippet: session.snippet }),
  };
  if (run) return { ...place, ...liveParts(run) };
  const summary = sessionSummary(session);
  const when = moment(session.updatedAt, time);
  return {
    ...place,
    state,
    figure: summary?.costUsd ? dollars(summary.costUsd) : "",
    line: (
      <>
        <StateWord state={state} isShort={state === "done"} />
        {state === "done" ? " " : " · "}
        {state === "running" ? "in another window" : <Outcome session={session} />} · {when}
      </>
    ),
  };
}

function Outcome({ session }: { session: ListedSession }) {
  const summary = sessionSummary(session);
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

/** Shows what a run is doing, as a separate component, so that the list is not rendered again with every step. */
function Doing({ run }: { run: RunRecord }) {
  const line = activity.value.get(run.id);
  const asked = questions.value.find((each) => each.run === run.id);
  const words = asked ? questionLine(asked) : line ? [line.name, line.text].filter(Boolean).join(" ") : "";
  return <>{documentText(words) || baseName(run.spec.request.workspace)}</>;
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
    id: run.sessionId ?? run.id,
    href: addressOf({ type: "run", id: run.id, tab: "timeline" }),
    title: sessionTitle(undefined, run)!,
    agent: run.spec.cli,
    ...liveParts(run),
  };
}

export function stateOfEnd({ end }: RunRecord): SessionState {
  return end?.outcome === "finished" ? "done" : end?.outcome === "error" ? "failed" : "interrupted";
}

function endedRunItem(run: RunRecord, { costUsd }: RunEnd, time: number): Item {
  const state = stateOfEnd(run);
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

/** Returns whether a session matches the filter, as far as the list knows. */
function fitsFilter({ title, snippet, agent, workspace, state }: ListedSession): boolean {
  const wanted = filter.value;
  const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
  // Results for the beginning of a word are still shown while the rest is typed.
  const text = `${title} ${snippet ?? ""}`.toLowerCase();
  return (
    words.every((word) => text.includes(word)) &&
    (wanted.agent === "" || wanted.agent === agent) &&
    (wanted.project === "" || wanted.project === workspace) &&
    (wanted.state === "" || wanted.state === state)
  );
}

export function isFiltered(): boolean {
  return isNarrowed(filter.value);
}

function clearFilter(): void {
  filter.value = { search: "", agent: "", project: "", state: "", days: 0 };
  for (const field of document.querySelectorAll<HTMLInputElement>("input[type=search]")) field.value = "";
}
