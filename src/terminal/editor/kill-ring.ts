// Kill ring: what was cut out, newest first. Cuts in a row are one; a yank can be exchanged for an older cut.

export type KillRing = {
  readonly cuts: readonly string[];
  /** The last key cut something: the next cut joins it. */
  readonly isCutting: boolean;
  /** The last key yanked: where that stands, and which cut it was. */
  readonly yanked?: { start: number; end: number; index: number };
};

const mostCuts = 60;

export const emptyRing: KillRing = { cuts: [], isCutting: false };

export function cutOut(ring: KillRing, text: string, direction: "back" | "forward"): KillRing {
  if (text === "") return { ...ring, isCutting: true };
  const [newest = "", ...older] = ring.cuts;
  if (!ring.isCutting || ring.cuts.length === 0)
    return { cuts: [text, ...ring.cuts].slice(0, mostCuts), isCutting: true };
  return { cuts: [direction === "back" ? text + newest : newest + text, ...older], isCutting: true };
}

/** After every other key. */
export function settled(ring: KillRing): KillRing {
  return ring.isCutting || ring.yanked ? { cuts: ring.cuts, isCutting: false } : ring;
}
