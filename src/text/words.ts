// Tables of words as they are written down: many on a line.

export function list(text: string): string[] {
  return text.trim().split(/\s+/);
}

export function words(text: string): ReadonlySet<string> {
  return new Set(list(text));
}

/** Rows of a table that say the same. */
export function each<const Row>(names: string, row: Row): Record<string, Row> {
  return Object.fromEntries(list(names).map((name) => [name, row]));
}
