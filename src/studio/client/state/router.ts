// The router: parses the page's address and navigates.
import { signal } from "@preact/signals";
import type { SessionRef } from "../service/api.ts";

export const tabs = ["timeline", "changes", "files", "replay", "events"] as const;
export type Tab = (typeof tabs)[number];

export type Place =
  | { type: "home" | "new" | "inbox" | "settings" | "unknown" }
  | { type: "compare"; sessions: readonly SessionRef[] }
  | { type: "session"; tool: string; id: string; tab: Tab }
  | { type: "run"; id: string; tab: Tab };

export const place = signal<Place>(placeAt(location.pathname));

export function placeAt(path: string): Place {
  const [first, ...rest] = path.split("/").slice(1);
  if (first === "new" || first === "inbox" || first === "settings") return { type: first };
  if (first === "compare" && rest[1]) {
    const [tool, id, otherTool, otherId] = rest as [string, string, string?, string?];
    return {
      type: "compare",
      sessions: [{ tool, id }, ...(otherTool && otherId ? [{ tool: otherTool, id: otherId }] : [])],
    };
  }
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
    case "settings":
      return `/${where.type}`;
    case "compare":
      return `/compare${where.sessions.map(({ tool, id }) => `/${tool}/${id}`).join("")}`;
    case "session":
      return `/sessions/${where.tool}/${where.id}${tabPart(where.tab)}`;
    case "run":
      return `/runs/${where.id}${tabPart(where.tab)}`;
  }
}

export function navigate(where: Place, { replace = false } = {}): void {
  const address = addressOf(where);
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  place.value = where;
}

/** Follows links within the page without reloading; clicks with a modifier key are left to the browser. */
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
