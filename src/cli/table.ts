// Lays out rows of cells as a table for people, in columns of equal width.
import { padded, widthOf } from "../text/width.ts";

export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]!))));
  return rows.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
