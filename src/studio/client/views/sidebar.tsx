// All sessions of all agents, what runs on top; search and filters above them.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ListedSession, RunEnd, RunRecord, SessionState } from "../../../serve/api.ts";
import { baseName, dayGroup, moment } from "../model/figures.ts";
import {
  agents,
  filter,
  listError,
  listed,
  liveRuns,
  loadSessions,
  projects,
  questions,
  runs,
  sessions,
  titleOf,
} from "../state/app.ts";
import { isPaletteOpen } from "../state/layout.ts";
import { addressOf, place } from "../state/router.ts";

export const stateWords: Record<SessionState, string> = {
  running: "running",
  waiting: "waiting for you",
  done: "done",
  failed: "failed",
  interrupted: "interrupted",
};

/** A line of the list: a session, or a run that has none yet. */
type Item = {
  key: string;
  href: string;
  title: string;
  agent: string;
  project: string;
  state: SessionState;
  when: string;
  snippet?: string;
};

export function Sidebar({ inSheet = false }: { inSheet?: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  const waiting = questions.value.length;
  const { type } = place.value;
  return (
    <>
      {!inSheet && (
        <div class="brand">
          <a href="/">Courser</a>
          <button type="button" class="quiet" title="Find anything" onClick={() => (isPaletteOpen.value = true)}>
            <kbd>{isMac() ? "⌘K" : "Ctrl K"}</kbd>
          </button>
        </div>
      )}
      <Search onMove={() => list.current?.querySelector<HTMLElement>(".item")?.focus()}>
        <div class="ways">
          <a href="/new" class={type === "new" ? "chosen" : ""}>
            New run
          </a>
          <a href="/inbox" class={type === "inbox" ? "chosen" : ""}>
            Inbox
            {waiting > 0 && <span class="badge">{waiting}</span>}
          </a>
        </div>
      </Search>
      <div class="list" ref={list} onKeyDown={(event) => moveFocus(event, list.current!)}>
        <List />
      </div>
    </>
  );
}

function Search({ onMove, children }: { onMove(): void; children: ComponentChildren }) {
  const isOpen = useSignal(false);
  const current = filter.value;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (change: Partial<typeof current>) => (filter.value = { ...filter.value, ...change });
  const count = [current.agent, current.project, current.state, current.days > 0].filter(Boolean).length;
  const names = agents.value.map(({ name }) => name);
  return (
    <search class="search">
      <input
        type="search"
        aria-label="Search all sessions"
        placeholder="Search all sessions"
        defaultValue={current.search}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "Enter") {
            event.preventDefault();
            onMove();
          }
          if (event.key === "Escape") event.currentTarget.blur();
        }}
        onInput={(event) => {
          const search = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => change({ search }), 150);
        }}
      />
      {children}
      <button
        type="button"
        class="quiet filters"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        Filter{count > 0 && <span class="badge">{count}</span>}
      </button>
      {isOpen.value && (
        <div class="filter">
          <Select
            label="Agent"
            value={current.agent}
            onChange={(agent) => change({ agent })}
            options={[
              ["", "All agents"],
              ...[...new Set([...names, "courser", "cursor", "claude", "codex", "gemini"])].map(
                (name): [string, string] => [name, agentName(name)],
              ),
            ]}
          />
          <Select
            label="Project"
            value={current.project}
            onChange={(project) => change({ project })}
            options={[["", "All projects"], ...projects.value.map((path): [string, string] => [path, baseName(path)])]}
          />
          <Select
            label="State"
            value={current.state}
            onChange={(state) => change({ state })}
            options={[["", "Any state"], ...(Object.entries(stateWords) as [string, string][])]}
          />
          <Select
            label="Date"
            value={String(current.days)}
            onChange={(days) => change({ days: Number(days) })}
            options={[
              ["0", "Any time"],
              ["1", "Last day"],
              ["7", "Last 7 days"],
              ["30", "Last 30 days"],
            ]}
          />
        </div>
      )}
    </search>
  );
}

type SelectProps = {
  label: string;
  value: string;
  options: readonly (readonly [value: string, title: string])[];
  onChange(value: string): void;
};

export function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([each, title]) => (
        <option key={each} value={each} selected={each === value}>
          {title}
        </option>
      ))}
    </select>
  );
}

function List() {
  const found = sessions.value;
  place.value; // which line is the one that is looked at
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
  const groups = grouped(found);
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
    <a class={`item${isChosen ? " chosen" : ""}`} href={item.href} aria-current={isChosen ? "page" : undefined}>
      <span class="item-title">
        <span class={`dot ${item.state}`} aria-hidden="true" />
        <b>{item.title}</b>
      </span>
      <span class="item-facts">
        {item.agent}
        {item.project && ` · ${item.project}`}
        <span class="item-when">
          {item.state === "running" || item.state === "waiting" ? stateWords[item.state] : item.when}
          {item.state !== "done" &&
            item.state !== "running" &&
            item.state !== "waiting" &&
            ` · ${stateWords[item.state]}`}
        </span>
      </span>
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

/** What runs is never hidden by a filter of time or state, only by words, agents and projects. */
function grouped(found: readonly ListedSession[]): Map<string, Item[]> {
  const now = Date.now();
  const groups = new Map<string, Item[]>();
  const add = (group: string, item: Item) => groups.set(group, [...(groups.get(group) ?? []), item]);
  const live = new Map(liveRuns.value.flatMap((run) => (run.sessionId ? [[run.sessionId, run] as const] : [])));
  const known = new Set(found.map(({ id }) => id));
  if (!isFiltered())
    for (const run of liveRuns.value) if (!run.sessionId || !known.has(run.sessionId)) add("Running", runItem(run));
  for (const session of found) {
    const item = sessionItem(session, live.get(session.id), now);
    const isLive = item.state === "running" || item.state === "waiting";
    add(isLive ? "Running" : dayGroup(session.updatedAt, now), item);
  }
  // Runs of a fleet have their sessions on the machines of their workers.
  if (!isFiltered())
    for (const run of runs.value.values())
      if (run.end && run.spec.source && !known.has(run.sessionId ?? ""))
        add(dayGroup(run.endedAt ?? run.createdAt, now), { ...runItem(run), ...endOf(run, run.end, now) });
  const running = groups.get("Running");
  if (!running) return groups;
  groups.delete("Running");
  return new Map([["Running", running], ...groups]);
}

function sessionItem(session: ListedSession, run: RunRecord | undefined, now: number): Item {
  const state = run ? (run.open > 0 ? "waiting" : "running") : session.run ? "done" : session.state;
  return {
    key: `${session.tool}-${session.id}`,
    href: addressOf({ type: "session", tool: session.tool, id: session.id, tab: "timeline" }),
    title: titleOf(session, run) ?? session.title,
    agent: agentName(session.agent),
    project: baseName(session.workspace ?? ""),
    state,
    when: moment(session.updatedAt, now),
    ...(session.snippet !== undefined && { snippet: session.snippet }),
  };
}

function endOf(run: RunRecord, { outcome }: RunEnd, now: number): Pick<Item, "state" | "when"> {
  const state = outcome === "finished" ? "done" : outcome === "error" ? "failed" : "interrupted";
  return { state, when: moment(run.endedAt ?? run.createdAt, now) };
}

function runItem(run: RunRecord): Item {
  return {
    key: run.id,
    href: addressOf({ type: "run", id: run.id, tab: "timeline" }),
    title: run.spec.prompt.text.split("\n")[0]!,
    agent: agentName(run.spec.cli),
    project: baseName(run.spec.request.workspace),
    state: run.open > 0 ? "waiting" : "running",
    when: run.state === "queued" ? "queued" : "",
  };
}

/** As it is typed in a terminal. */
export function agentName(name: string): string {
  return name === "cursor" ? "cursor-agent" : name;
}

function isFiltered(): boolean {
  const { search, agent, project, state, days } = filter.value;
  return Boolean(search.trim() || agent || project || state || days);
}

function clearFilter(): void {
  filter.value = { search: "", agent: "", project: "", state: "", days: 0 };
  for (const field of document.querySelectorAll<HTMLInputElement>("input[type=search]")) field.value = "";
}

/** j and k, or the arrows, go through the list; Enter opens, as it does for any link. */
function moveFocus(event: KeyboardEvent, list: HTMLElement): void {
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (by === undefined || event.metaKey || event.ctrlKey) return;
  const items = [...list.querySelectorAll<HTMLElement>(".item")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  event.preventDefault();
  event.stopPropagation();
  items[Math.max(0, Math.min(items.length - 1, at + by))]?.focus();
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}
