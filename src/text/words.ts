// Parses tables of words that are written many on a line.

export function list(text: string): string[] {
  return text.trim().split(/\s+/);
}

export function words(text: string): ReadonlySet<string> {
  return new Set(list(text));
}

/** Creates a table that has the same row for each of these names. */
export function each<const Row>(names: string, row: Row): Record<string, Row> {
  return Object.fromEntries(list(names).map((name) => [name, row]));
}
