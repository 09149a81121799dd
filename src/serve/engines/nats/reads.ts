// Reads a stream consistently. The leader says which messages exist, because a replica may be
// behind and wrongly report that there are none.
import type { StoredMsg } from "@nats-io/jetstream";
import { answerMs, type Connected } from "./connect.ts";
import { staleRead } from "./errors.ts";
import { type Pulled, pullNow } from "./pulls.ts";

const nanoseconds = 1_000_000;

type Source = { stream: string; subject: string };

/** Reads the last message from the leader; the subject may have wildcards. */
export function lastMessage({ reader }: Connected, { stream, subject }: Source): Promise<StoredMsg | null> {
  return reader.streams.getMessage(stream, { last_by_subj: subject });
}

/** Reads the message with this sequence from the stream's leader. */
export function messageAt({ reader }: Connected, stream: string, sequence: number): Promise<StoredMsg | null> {
  return reader.streams.getMessage(stream, { seq: sequence });
}

/** `isBare` leaves out the data of the messages. */
export type Limits = { from: number; to?: number; most?: number; batch?: number; isBare?: boolean };

/**
 * Yields the messages that exist now, in pages. The consumer may be on any replica: it must reach the leader's last message, or
 * the read is stale. Messages written meanwhile are left out, or a reader would follow busy writers for ever.
 */
export async function* readPages(
  connected: Connected,
  source: Source,
  { from, to = Number.MAX_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER, batch = 500, isBare = false }: Limits,
): AsyncGenerator<Pulled[]> {
  const { manager, packages, connection } = connected;
  const last = await lastMessage(connected, source);
  if (!last || last.seq < from) return;
  const end = Math.min(to, last.seq);
  const { AckPolicy, DeliverPolicy } = packages.jetstream;
  const { stream } = source;
  const consumer = await manager.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(1, from),
    filter_subject: source.subject,
    ...(isBare && { headers_only: true }),
    inactive_threshold: 2 * answerMs * nanoseconds,
    mem_storage: true,
    num_replicas: 1,
  });
  try {
    for (let left = most, reached = from - 1; left > 0 && reached < end; ) {
      const size = Math.min(left, batch, Math.max(1, to - reached));
      const page = await pullNow(connected, { stream, consumer: consumer.name }, size, answerMs);
      if (page.length === 0) throw staleRead();
      reached = page.at(-1)!.sequence;
      left -= page.length;
      yield page.filter(({ sequence }) => sequence <= to);
    }
  } finally {
    if (!connection.isClosed()) void manager.consumers.delete(stream, consumer.name).catch(() => {}); // an inactive consumer expires anyway
  }
}
