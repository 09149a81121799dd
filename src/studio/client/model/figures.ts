// Formats times and paths for lists. Other numbers are formatted in `view/numbers.ts`.
import { collapsed } from "../../../text/one-line.ts";
import { documentText } from "../../../view/document-text.ts";

/** Formats a time for a list: the time of day for today, the weekday within six days, else the date. */
export function moment(at: number, now: number): string {
  const date = new Date(at);
  if (dayOf(at) === dayOf(now))
    return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  if (now - at < 6 * dayMs) return date.toLocaleDateString([], { weekday: "short" });
  return date.toLocaleDateString([], {
    day: "numeric",
    month: "short",
    ...(now - at > 300 * dayMs && { year: "numeric" }),
  });
}

/** Formats an age: "40 s ago", "3 min ago", "2 h ago"; older times as in a list. */
export function formatAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : moment(at, now);
}

/** Formats how long something has been running: "0:41", "2:14", "1:02:14". */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  const [hours, minutes, rest] = parts.map((part, index) =>
    index === 0 ? String(part) : String(part).padStart(2, "0"),
  );
  return parts[0]! > 0 ? `${hours}:${minutes}:${rest}` : `${Number(minutes)}:${rest}`;
}

const dayMs = 86_400_000;

function dayOf(at: number): string {
  return new Date(at).toDateString();
}

export type DayGroup = "Today" | "Yesterday" | "This week" | "This month" | "Older";

export function dayGroup(at: number, now: number): DayGroup {
  if (dayOf(at) === dayOf(now) || at > now) return "Today";
  if (dayOf(at) === dayOf(now - dayMs)) return "Yesterday";
  if (now - at < 7 * dayMs) return "This week";
  return now - at < 31 * dayMs ? "This month" : "Older";
}

/** Returns a line of Markdown as plain text, without markup and characters that could hide something. */
export function plainLine(text: string): string {
  return documentText(collapsed(text)).replace(/\*\*|__|`+|^#+ /g, "");
}

/** Returns a path relative to the workspace, if it is inside. */
export function pathIn(workspace: string | undefined, path: string): string {
  return workspace && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

/** Returns the last part of a path. */
export function baseName(path: string): string {
  return (
    path
      .replace(/[\\/]+$/, "")
      .split(/[\\/]/)
      .at(-1) || path
  );
}
