// Numbers as they are shown: short, with the same number of digits, never more exact than they are.
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(2)}M`;
}

export function cost(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? "< $0.01" : `$${dollars.toFixed(2)}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** How long ago, or when: as short as a list needs it. */
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

/** The last part of a path. */
export function baseName(path: string): string {
  return (
    path
      .replace(/[\\/]+$/, "")
      .split(/[\\/]/)
      .at(-1) || path
  );
}
