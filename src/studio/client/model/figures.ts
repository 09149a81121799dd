// When things happened and where, as short as a list needs it. Other numbers: `view/numbers.ts`.

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
