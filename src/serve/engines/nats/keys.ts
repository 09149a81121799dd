// Builds and parses the keys of messages. The words of a key contain only letters, digits, - and _; other text is base64-encoded.
import { sha256 } from "../../../store/chats/sha256.ts";
import { type Labels, type Placement, priorities } from "../../fleet.ts";
import type { Lane } from "./server.ts";

export function word(text: string): string {
  return /^[\w-]+$/.test(text) ? text : `=${Buffer.from(text).toString("base64url")}`;
}

export function decodeWord(word: string): string {
  return word.startsWith("=") ? Buffer.from(word.slice(1), "base64url").toString() : word;
}

export function lastWord(key: string): string {
  return decodeWord(key.slice(key.lastIndexOf(".") + 1));
}

const noLabels = "any";

/** Returns the lane for a placement. Each sender has its own lanes, which workers serve in turn. */
export function laneOf({ pool = "default", labels = {}, priority = "normal" }: Placement = {}, sender?: string): Lane {
  return `${word(pool)}.${priority}.${labelsWord(labels)}${sender === undefined ? "" : `-${word(sender)}`}`;
}

export function poolOf(lane: Lane): string {
  return decodeWord(lane.split(".")[0]!);
}

export function senderOf(lane: Lane): string | undefined {
  const [, , words = ""] = lane.split(".");
  const dash = words.indexOf("-");
  return dash < 0 ? undefined : decodeWord(words.slice(dash + 1));
}

function labelsWord(labels: Labels): string {
  const sorted = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  if (sorted.length === 0) return noLabels;
  return sha256(JSON.stringify(sorted)).slice(0, 16);
}

/** Sorts lanes by priority, then puts those first that only few workers can take; ties rotate between senders. */
export function byUrgency(lanes: readonly Lane[], turn: number): Lane[] {
  const rank = (lane: Lane) => priorities.indexOf(lane.split(".")[1] as "normal") * 2 + (isForAnybody(lane) ? 1 : 0);
  const first = lanes.length === 0 ? 0 : turn % lanes.length;
  return [...lanes.slice(first), ...lanes.slice(0, first)].sort((one, other) => rank(one) - rank(other));
}

export function isForAnybody(lane: Lane): boolean {
  return lane.split(".")[2]!.split("-")[0] === noLabels;
}
