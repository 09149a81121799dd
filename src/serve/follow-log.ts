// Follows a log through short outages, and answers questions in it.
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import type { Answer, Question } from "../protocol/run.ts";
import type { Fleet, LogEntry } from "./fleet.ts";

/** For how many milliseconds a failing log reader is restarted. Readers of a server have their own retries. */
const longestOutageMs = 120_000;
const passing: readonly string[] = ["STORE_LOCKED", "STORE_FULL", "STORE_IO"] satisfies ErrorCode[];

/** Yields the entries that `read` returns after a position. Tries again after an error, unless it is permanent or lasts too long. */
export async function* followThrough(
  read: (from: number) => AsyncIterable<LogEntry>,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogEntry> {
  let position = from;
  let failedAt: number | undefined;
  while (!signal.aborted) {
    try {
      for await (const entry of read(position)) {
        position = entry.position;
        failedAt = undefined;
        yield entry;
      }
      return;
    } catch (error) {
      failedAt ??= Date.now();
      if (signal.aborted) return;
      const isPassing = error instanceof UserError && passing.includes(error.code);
      if (!isPassing || Date.now() - failedAt > longestOutageMs) throw error;
      await sleep(1000, undefined, { signal }).catch(() => {});
    }
  }
}

/** Answers an open question of a run. Has no effect if another client answered first. */
export async function answerQuestion(fleet: Fleet, run: string, { id, hash }: Question, answer: Answer): Promise<void> {
  await fleet.answer(run, { question: id, hash, answer }).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
  });
}
