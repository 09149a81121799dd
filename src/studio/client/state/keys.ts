// Keyboard shortcuts: one table of actions for the keys, the palette and the help.
import { signal } from "@preact/signals";

export type Action = {
  id: string;
  title: string;
  /** The keys of the action as they are displayed: `⌘K`, `j`, `g i`. */
  keys?: string;
  run(): void;
  /** Whether to omit the action from the command palette. */
  isKeyOnly?: boolean;
};

/** The actions that are available everywhere, and those of the current view. */
export const actions = signal<ReadonlyMap<string, readonly Action[]>>(new Map());

export function offerActions(group: string, list: readonly Action[]): () => void {
  actions.value = new Map(actions.value).set(group, list);
  return () => {
    if (actions.value.get(group) !== list) return;
    const rest = new Map(actions.value);
    rest.delete(group);
    actions.value = rest;
  };
}

let first: { key: string; at: number } | undefined;

export function watchKeys(openPalette: () => void): void {
  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    // Ignore a key that the focused element has already handled.
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const pair = first && event.timeStamp - first.at < 1000 ? `${first.key} ${event.key}` : undefined;
    first = { key: event.key, at: event.timeStamp };
    const all = [...actions.value.values()].flat().toReversed();
    const action =
      all.find(({ keys }) => pair !== undefined && keys === pair) ?? all.find(({ keys }) => keys === event.key);
    if (!action) return;
    event.preventDefault();
    first = undefined;
    action.run();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
