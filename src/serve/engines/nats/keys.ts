// What messages are filed under. Words of a key hold letters, digits, - and _ only: others are spelled out.
import { createHash } from "node:crypto";
import { type Placement, priorities } from "../../fleet.ts";
import type { Lane } from "./server.ts";

export function word(text: string): string {
  return /^[\w-]+$/.test(text) ? text : `=${Buffer.from(text).toString("base64url")}`;
}

export function textOf(word: string): string {
  return word.startsWith("=") ? Buffer.from(word.slice(1), "base64url").toString() : word;
}

/** The last word of a key. */
export function lastWord(key: string): string {
  return textOf(key.slice(key.lastIndexOf(".") + 1));
}

const noLabels = "any";

export function laneOf({ pool = "default", labels = {}, priority = "normal" }: Placement = {}): Lane {
  return `${word(pool)}.${priority}.${labelsWord(labels)}`;
}

function labelsWord(labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  if (sorted.length === 0) return noLabels;
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 16);
}

/** The most urgent first; of these, those that only few workers can take. */
export function byUrgency(one: Lane, other: Lane): number {
  const rank = (lane: Lane) => {
    const [, priority, labels] = lane.split(".");
    return priorities.indexOf(priority as "normal") * 2 + (labels === noLabels ? 1 : 0);
  };
  return rank(one) - rank(other);
}

export function isForAnybody(lane: Lane): boolean {
  return lane.endsWith(`.${noLabels}`);
}
