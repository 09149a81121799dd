// Kill ring: texts that were cut, newest first. Consecutive cuts are joined; a yank can be replaced by an older cut.

export type KillRing = {
  readonly cuts: readonly string[];
  /** Whether the last key cut text, so that the next cut is joined to it. */
  readonly isCutting: boolean;
  /** If the last key pasted a cut ("yank"), the range of the pasted text and the index of the cut. */
  readonly yanked?: { start: number; end: number; index: number };
};

const maxCuts = 60;

export const emptyRing: KillRing = { cuts: [], isCutting: false };

export function cutOut(ring: KillRing, text: string, direction: "back" | "forward"): KillRing {
  if (text === "") return { ...ring, isCutting: true };
  const [newest = "", ...older] = ring.cuts;
  if (!ring.isCutting || ring.cuts.length === 0)
    return { cuts: [text, ...ring.cuts].slice(0, maxCuts), isCutting: true };
  return { cuts: [direction === "back" ? text + newest : newest + text, ...older], isCutting: true };
}

/** Resets the ring after any other key, so that cuts are not joined and yanks not replaced. */
export function endYank(ring: KillRing): KillRing {
  return ring.isCutting || ring.yanked ? { cuts: ring.cuts, isCutting: false } : ring;
}
