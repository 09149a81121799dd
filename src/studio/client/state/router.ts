// Where the page is: its address as data, and how to go elsewhere.
import { signal } from "@preact/signals";

export const tabs = ["timeline", "changes", "files", "replay", "events"] as const;
export type Tab = (typeof tabs)[number];

export type Place =
  | { type: "home" | "new" | "inbox" | "unknown" }
  | { type: "session"; tool: string; id: string; tab: Tab }
  | { type: "run"; id: string; tab: Tab };

export const place = signal<Place>(placeAt(location.pathname));

export function placeAt(path: string): Place {
  const [first, ...rest] = path.split("/").slice(1);
  if (first === "new" || first === "inbox") return { type: first };
  if (first === "sessions" && rest[1]) return { type: "session", tool: rest[0]!, id: rest[1], tab: tabOf(rest[2]) };
  if (first === "runs" && rest[0]) return { type: "run", id: rest[0], tab: tabOf(rest[1]) };
  return { type: path === "/" ? "home" : "unknown" };
}

export function addressOf(where: Place): string {
  switch (where.type) {
    case "home":
    case "unknown":
      return "/";
    case "new":
    case "inbox":
      return `/${where.type}`;
    case "session":
      return `/sessions/${where.tool}/${where.id}${tabPart(where.tab)}`;
    case "run":
      return `/runs/${where.id}${tabPart(where.tab)}`;
  }
}

export function go(where: Place, { replace = false } = {}): void {
  const address = addressOf(where);
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  place.value = where;
}

/** Links of the page are followed without loading it anew; those with a key held down are the browser's. */
export function watchLinks(): void {
  addEventListener("popstate", () => {
    place.value = placeAt(location.pathname);
  });
  addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a[href^='/']");
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.hasAttribute("download")) return;
    event.preventDefault();
    const href = link.getAttribute("href")!;
    history.pushState(null, "", href);
    place.value = placeAt(location.pathname);
  });
}

function tabOf(word: string | undefined): Tab {
  return tabs.find((tab) => tab === word) ?? "timeline";
}

function tabPart(tab: Tab): string {
  return tab === "timeline" ? "" : `/${tab}`;
}
