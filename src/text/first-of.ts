// Shows the first items of a long list and counts the rest.

/** Joins the first items on one line: `a, b and 3 more`. */
export function firstOf(items: readonly string[], most: number): string {
  const rest = items.length > most ? ` and ${items.length - most} more` : "";
  return `${items.slice(0, most).join(", ")}${rest}`;
}

/** Returns the first lines, followed by `… and 3 more` if there are others. */
export function firstLines(lines: readonly string[], most: number, indent = "  "): string[] {
  const rest = lines.length > most ? [`… and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...rest].map((line) => indent + line);
}
