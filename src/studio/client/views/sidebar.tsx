// The sidebar: search, filters, and the list of sessions. Live runs come before everything that has ended.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { SessionState } from "../../../serve/api.ts";
import { agentName } from "../model/agents.ts";
import { baseName } from "../model/figures.ts";
import { agents, filter, foundFor, listed, projects, questions, sessions } from "../state/app.ts";
import { isPaletteOpen } from "../state/layout.ts";
import { place } from "../state/router.ts";
import { Select } from "./chips.tsx";
import { isFiltered, List } from "./session-list.tsx";

export const stateWords: Record<SessionState, string> = {
  running: "running",
  waiting: "waiting for you",
  done: "done",
  failed: "failed",
  interrupted: "interrupted",
};

export function Sidebar({ inSheet = false }: { inSheet?: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  const waiting = questions.value.length;
  const where = place.value;
  useEffect(() => {
    list.current?.querySelector(".item.chosen")?.scrollIntoView({ block: "nearest" });
  }, [where, sessions.value === undefined]);
  useEffect(() => list.current?.scrollTo(0, 0), [foundFor.value]);
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
      <a href="/new" class="button main new">
        New run
      </a>
      <Search onMove={() => list.current?.querySelector<HTMLElement>(".item")?.focus()}>
        <div class="ways">
          <a href="/" class={where.type === "home" ? "chosen" : ""}>
            Board
          </a>
          <a href="/inbox" class={where.type === "inbox" ? "chosen" : ""}>
            Inbox
            {waiting > 0 && <span class="badge">{waiting}</span>}
          </a>
          <a href="/settings" class={where.type === "settings" ? "chosen" : ""}>
            Settings
          </a>
        </div>
      </Search>
      <div class="list" ref={list} onKeyDown={(event) => moveFocus(event, list.current!)}>
        <List />
      </div>
      {!inSheet && <WidthHandle />}
    </>
  );
}

/** Moves the focus into the session list and through it, for j and k in other views. */
export function moveInList(by: number): void {
  const list = document.querySelector<HTMLElement>(".left .list");
  if (list) focusItem(list, by);
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
        placeholder={
          sessions.value?.length && !isFiltered()
            ? `Search ${countOf(sessions.value.length)} sessions`
            : "Search sessions"
        }
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
              ...[...new Set([...names, "courser", "cursor", "claude", "codex", "gemini", "opencode", "pi"])].map(
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

function countOf(shownCount: number): string {
  return shownCount >= listed.value ? `${shownCount}+` : String(shownCount);
}

/** Moves the focus through the list with j, k or the arrow keys. Enter opens an item, as for any link. */
function moveFocus(event: KeyboardEvent, list: HTMLElement): void {
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (by === undefined || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  event.stopPropagation();
  focusItem(list, by);
}

function focusItem(list: HTMLElement, by: number): void {
  const items = [...list.querySelectorAll<HTMLElement>(".item")];
  const focused = items.indexOf(document.activeElement as HTMLElement);
  const at = focused >= 0 ? focused : items.findIndex((item) => item.classList.contains("chosen"));
  items[Math.max(0, Math.min(items.length - 1, at + by))]?.focus();
}

const widthName = "courser.left";

/** A handle that resizes the list by dragging or with the arrow keys. */
function WidthHandle() {
  const width = useSignal(Number(localStorage.getItem(widthName)) || 296);
  useEffect(() => {
    document.documentElement.style.setProperty("--left", `${width.value}px`);
    localStorage.setItem(widthName, String(width.value));
  }, [width.value]);
  const set = (to: number) => (width.value = Math.round(Math.max(220, Math.min(520, to))));
  return (
    <div
      class="width-handle"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the list"
      aria-valuenow={width.value}
      aria-valuemin={220}
      aria-valuemax={520}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && set(event.clientX)}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        set(width.value + by);
      }}
    />
  );
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}
