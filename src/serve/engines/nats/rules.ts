// The rules of leases and fencing as pure functions: what the last message of a run's log says about the run, which host may take
// it, and how each step changes it. The engine and the simulation share them.
import { type Entry, isOver, type RunEnd, type RunState } from "../../fleet.ts";

/** Stored as a header of every log message, so that the last one holds the full state of the run. */
export type Head = {
  state: RunState;
  attempts: number;
  /** The host of the run: the first part of the lease's token. */
  owner?: string;
  ttlMs?: number;
  startedAt?: number;
  endedAt?: number;
  sessionId?: string;
  /** The ids of the open questions. */
  open: string[];
  cancelReason?: string;
  isPruned?: true;
};

/** `sequence` is the fence: a writer must name the last one. `entries` is the number of entries in the message. */
export type Last = { sequence: number; at: number; entries: number; head: Head };

export const neverWritten: Last = {
  sequence: 0,
  at: 0,
  entries: 0,
  head: { state: "queued", attempts: 0, open: [] },
};

export type Standing = { is: "free" } | { is: "over" } | { is: "hosted"; leftMs: number };

/**
 * Tells whether a run may be taken. All times are the server's. A host counts as alive if it wrote or renewed within its lease.
 * No host can do that while the server is away: after it is found again, hosts get half of their lease to renew.
 */
export function standingOf(
  { at, head }: Last,
  { renewedAt = 0, now, foundAgainAt }: { renewedAt?: number | undefined; now: number; foundAgainAt: number },
): Standing {
  if (isOver(head.state)) return { is: "over" };
  if (head.state === "queued") return { is: "free" };
  const ttlMs = head.ttlMs ?? 0;
  const deadline = Math.max(Math.max(at, renewedAt) + ttlMs, foundAgainAt + ttlMs / 2);
  return deadline <= now ? { is: "free" } : { is: "hosted", leftMs: deadline - now };
}

/** Clears the open questions: the former host no longer waits for answers. */
export function takenHead(head: Head, { owner, ttlMs, now }: { owner: string; ttlMs: number; now: number }): Head {
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

/** The factor between message and entry: a position combines a message's sequence with the index of one of its entries. */
const entriesInMessage = 1000;

export const maxEntries = 500;

export function positionAt(sequence: number, index: number): number {
  return sequence * entriesInMessage + index;
}

export function sequenceAt(position: number): number {
  return Math.floor(position / entriesInMessage);
}

/** Returns the position of the last entry, or 0 if there is none. */
export function positionOf({ sequence, entries }: Pick<Last, "sequence" | "entries">): number {
  return positionAt(sequence, Math.max(0, entries - 1));
}

/** Returns whether a host may write: the run must be its own, and the log must end where it expects. */
export function mayWrite(last: Last, owner: string, after: number): boolean {
  return last.head.state === "running" && last.head.owner === owner && positionOf(last) === after;
}

/** Returns the token of a lease, valid in every process: it names the host, and the `work` message that the host received. */
export function tokenOf(owner: string, handle: string): string {
  return `${owner}_${Buffer.from(handle).toString("base64url")}`;
}

export function ownerOf(token: string): string {
  return token.slice(0, 36);
}

export function handleOf(token: string): string {
  return Buffer.from(token.slice(37), "base64url").toString();
}
