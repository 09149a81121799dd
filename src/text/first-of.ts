// Shows the first items of a long list and counts the rest.

/** In one line: `a, b and 3 more`. */
export function firstOf(items: readonly string[], most: number): string {
  const rest = items.length > most ? ` and ${items.length - most} more` : "";
  return `${items.slice(0, most).join(", ")}${rest}`;
}

/** As lines, of which the last may be `… and 3 more`. */
export function firstLines(lines: readonly string[], most: number, indent = "  "): string[] {
  const rest = lines.length > most ? [`… and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...rest].map((line) => indent + line);
}
