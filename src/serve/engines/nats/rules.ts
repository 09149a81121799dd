// The rules of leases and of the fence, without any server: what the last message in the log of a run says of the run, who may
// take it, and what each step makes of it. Pure: the engine and the simulation go by the same ones.
import { type Entry, isOver, type RunEnd, type RunState } from "../../fleet.ts";

/** Stands beside every message in the log of a run, so that the last one says all there is to know. */
export type Head = {
  state: RunState;
  attempts: number;
  /** Who hosts it: the first part of the token of the lease. */
  owner?: string;
  ttlMs?: number;
  startedAt?: number;
  endedAt?: number;
  sessionId?: string;
  /** Questions that wait. */
  open: string[];
  cancelReason?: string;
  isPruned?: true;
};

/** `sequence` is the fence: who writes must name the last one. `entries`: how many the message holds. */
export type Last = { sequence: number; at: number; entries: number; head: Head };

export const neverWritten: Last = {
  sequence: 0,
  at: 0,
  entries: 0,
  head: { state: "queued", attempts: 0, open: [] },
};

export type Standing = { is: "free" } | { is: "over" } | { is: "hosted"; leftMs: number };

/**
 * May it be taken? All times are the server's. A host is there as long as it wrote or renewed within its time. Where the server was
 * away, nobody could: whoever finds it again leaves the others half of their time to do so as well.
 */
export function standing(
  { at, head }: Last,
  { renewedAt = 0, now, foundAgainAt }: { renewedAt?: number | undefined; now: number; foundAgainAt: number },
): Standing {
  if (isOver(head.state)) return { is: "over" };
  if (head.state === "queued") return { is: "free" };
  const ttlMs = head.ttlMs ?? 0;
  const deadline = Math.max(Math.max(at, renewedAt) + ttlMs, foundAgainAt + ttlMs / 2);
  return deadline <= now ? { is: "free" } : { is: "hosted", leftMs: deadline - now };
}

/** Whoever asked the former host has no answer to wait for. */
export function taken(head: Head, { owner, ttlMs, now }: { owner: string; ttlMs: number; now: number }): Head {
  const startedAt = head.startedAt ?? now;
  return { ...head, state: "running", attempts: head.attempts + 1, owner, ttlMs, startedAt, open: [] };
}

export function written(head: Head, entries: readonly Entry[]): Head {
  const open = new Set(head.open);
  let { sessionId } = head;
  for (const entry of entries) {
    if (entry.type === "question") open.add(entry.question.id);
    if (entry.type === "question_closed") open.delete(entry.question);
    sessionId = sessionOf(entry) ?? sessionId;
  }
  return { ...head, open: [...open], ...(sessionId !== undefined && { sessionId }) };
}

export function sessionOf(entry: Entry): string | undefined {
  const isInit = entry.type === "event" && entry.agent === undefined && entry.event.type === "init";
  return isInit ? (entry.event as { sessionId: string }).sessionId : undefined;
}

export function released(head: Head): Head {
  const { owner: _owner, ttlMs: _ttl, ...rest } = head;
  return { ...rest, state: "queued", open: [] };
}

export function ended(head: Head, end: RunEnd, now: number, cancelReason?: string): Head {
  const rest = released(head);
  return { ...rest, state: end.outcome, endedAt: now, ...(cancelReason !== undefined && { cancelReason }) };
}

/** Messages hold several entries: a place in the log is its message, and which of its entries. */
const entriesInMessage = 1000;

export const mostEntries = 500;

export function positionAt(sequence: number, index: number): number {
  return sequence * entriesInMessage + index;
}

export function sequenceAt(position: number): number {
  return Math.floor(position / entriesInMessage);
}

/** Of the last entry; 0: none. */
export function positionOf({ sequence, entries }: Pick<Last, "sequence" | "entries">): number {
  return positionAt(sequence, Math.max(0, entries - 1));
}

/** A host may write where the log ends where it believes, and the run is its own. */
export function mayWrite(last: Last, owner: string, after: number): boolean {
  return last.head.state === "running" && last.head.owner === owner && positionOf(last) === after;
}

/** A token is good in every process: it names the host, and the message of `work` that it was handed, where there is one. */
export function tokenOf(owner: string, handle: string | undefined): string {
  return handle === undefined ? owner : `${owner}_${Buffer.from(handle).toString("base64url")}`;
}

export function ownerOf(token: string): string {
  return token.slice(0, 36);
}

export function handleOf(token: string): string | undefined {
  return token.length > 37 ? Buffer.from(token.slice(37), "base64url").toString() : undefined;
}
