// Reads of a stream that something may be decided by. Its leader says what there is: a replica may be behind, and its answer that
// there is nothing would be believed.
import type { StoredMsg } from "@nats-io/jetstream";
import type { Connected } from "./connect.ts";
import { staleRead } from "./errors.ts";
import { type Pulled, pullNow } from "./pulls.ts";

/** An answer takes so long at most; then the question is put again. */
export const answerMs = 2500;
const nanoseconds = 1_000_000;

type Source = { stream: string; subject: string };

/** From the leader, also where the subject has wildcards. */
export function lastMessage({ manager }: Connected, { stream, subject }: Source): Promise<StoredMsg | null> {
  return manager.streams.getMessage(stream, { last_by_subj: subject });
}

/** The message with this number, as the leader of the stream has it. */
export function messageAt({ manager }: Connected, stream: string, sequence: number): Promise<StoredMsg | null> {
  return manager.streams.getMessage(stream, { seq: sequence });
}

/** `isBare`: what the messages hold is left out. */
export type Limits = { from: number; to?: number; most?: number; batch?: number; isBare?: boolean };

/**
 * What is there by now, in pages. The consumer that reads is on any of the replicas: it must come as far as the leader is, or the
 * read is stale. What is written meanwhile is left out: a reader would follow busy writers for ever.
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
    if (!connection.isClosed()) void manager.consumers.delete(stream, consumer.name).catch(() => {}); // it would go by itself
  }
}
