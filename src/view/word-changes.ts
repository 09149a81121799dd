// Compares the words of a line and the line that replaces it.
import { diffWordsWithSpace } from "diff";

/** Returns the common and the changed words of two lines, or undefined if less than half is common. */
export function wordChanges(before: string, after: string): { before: Words; after: Words } | undefined {
  if (before.length + after.length > 2000) return undefined;
  const parts = diffWordsWithSpace(before, after);
  const common = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (common * 2 < Math.max(before.trim().length, after.trim().length)) return undefined;
  return {
    before: parts.filter((part) => !part.added).map((part) => ({ text: part.value, isChanged: part.removed === true })),
    after: parts.filter((part) => !part.removed).map((part) => ({ text: part.value, isChanged: part.added === true })),
  };
}

export type Words = { text: string; isChanged: boolean }[];
