// Removes messages from a stream, on a cluster one by one: a restarted server replays recent operations, and NATS 2.9 replays a purge
// of some subjects as a purge of everything that exists by then.
import type { Connected } from "./connect.ts";
import { lastMessage, readPages } from "./reads.ts";

type Source = { stream: string; subject: string };
type Again = <T>(work: () => Promise<T>) => Promise<T>;

const removedAtOnce = 16;

/** Removes all but the newest `keep` messages of each subject. The subject may have wildcards. */
export async function removeMessages(connected: Connected, source: Source, keep: number, again: Again): Promise<void> {
  const { manager } = connected;
  const { stream, subject } = source;
  const info = await again(() => manager.streams.info(stream, { subjects_filter: subject }));
  const subjects = Object.entries(info.state.subjects ?? {}).filter(([, count]) => count > keep);
  if (subjects.length === 0) return;
  if (info.config.num_replicas === 1) {
    await again(() => manager.streams.purge(stream, { filter: subject, ...(keep > 0 && { keep }) }));
    return;
  }
  const remove = async (sequence: number) => {
    await again(() => manager.streams.deleteMessage(stream, sequence, false).catch(ignoreGone));
  };
  for (const [each, count] of subjects) {
    const sequences =
      count === 1
        ? [(await again(() => lastMessage(connected, { stream, subject: each })))?.seq ?? 0]
        : await again(() => sequencesOf(connected, { stream, subject: each }));
    const old = sequences.slice(0, sequences.length - keep).filter((sequence) => sequence > 0);
    for (let at = 0; at < old.length; at += removedAtOnce)
      await Promise.all(old.slice(at, at + removedAtOnce).map(remove));
  }
}

async function sequencesOf(connected: Connected, source: Source): Promise<number[]> {
  const all: number[] = [];
  for await (const page of readPages(connected, source, { from: 1, isBare: true }))
    for (const { sequence } of page) all.push(sequence);
  return all;
}

/** Error codes for a message that is already gone: no message with this sequence, or none that could be deleted. */
const goneCodes = [10_037, 10_043, 10_057];

function ignoreGone(error: Error & { code?: number }): boolean {
  if (goneCodes.includes(error.code ?? 0)) return false;
  throw error;
}
