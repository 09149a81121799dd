// Finds the known name closest to what was written, if it is close enough for "Did you mean".

export function nearestName(written: string, known: readonly string[]): string | undefined {
  const wanted = written.slice(0, 100).toLowerCase();
  let best: string | undefined;
  // Allow fewer differences for short names, which resemble many others.
  let bestDistance = (wanted.length <= 4 ? 1 : wanted.length <= 12 ? 2 : 3) + 1;
  for (const name of known) {
    if (name === written) return undefined;
    const distance = distanceBetween(wanted, name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** Returns the nearest names, however far; names with a common prefix come first. */
export function nearestNames(written: string, known: readonly string[], count: number): string[] {
  const wanted = written.slice(0, 100).toLowerCase();
  const far = (name: string) =>
    distanceBetween(wanted, name.toLowerCase()) - 2 * sharedStart(wanted, name.toLowerCase());
  return [...known].sort((one, other) => far(one) - far(other)).slice(0, count);
}

function sharedStart(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

/** Returns a hint to append to a sentence: the likely name, else `otherwise`. */
export function didYouMean(written: string, known: readonly string[], otherwise = ""): string {
  const near = nearestName(written, known);
  return near === undefined ? otherwise : ` Did you mean ${near}?`;
}

/** Counts the differences of two words: inserted, missing or replaced letters, and swaps of neighbours. */
export function distanceBetween(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length]!;
}
