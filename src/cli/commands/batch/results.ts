// The output of a batch: a line for each finished run, in order of completion, and a state file for resuming until all are
// done. A line is written whole or not at all; a partial line left by a crash is cut off.
import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { tryParse } from "../../../json/object.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import type { Denial, Usage } from "../../../protocol/event.ts";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { isAlive } from "../../../store/file-lock.ts";
import { readJson, replaceFile } from "../../../store/json-file.ts";
import { systemErrorText } from "../../../text/system-error.ts";

export type BatchResult = {
  id: string;
  line: number;
  run: string;
  /** Counts from 1; `--retry-failed` continues the count. */
  attempt: number;
  outcome: "success" | "error" | "cancelled";
  /** The final answer of the run, or the reason why it has none. */
  text: string;
  code?: string;
  sessionId?: string;
  usage?: Usage;
  costUsd?: number;
  durationMs: number;
  turns: number;
  denials?: Denial[];
  /** The changes of a run that worked on a copy of the files. If the patch is too large, only its size. */
  patch?: string;
  patchBytes?: number;
  branch?: string;
};

/** The fields that are needed of a result line from before the batch was resumed. */
export type EarlierResult = Pick<BatchResult, "outcome" | "attempt" | "costUsd">;

type State = { batch: string; pid: number; host: string };

export interface BatchResults {
  /** The id of the batch, which the ids of its runs start with. */
  readonly batch: string;
  /** Results from before the batch was resumed, by run id. If an id has several lines, the last one counts. */
  readonly earlier: ReadonlyMap<string, EarlierResult>;
  add(result: BatchResult): void;
  /** Closes the results file. `isComplete` means that the batch has nothing left to resume. */
  close(isComplete: boolean): void;
}

/** Opens the results file of a batch, with its earlier results. Throws a UserError if it is not writable or another batch is using it. */
export function openResults(file: string): BatchResults {
  const state = `${file}.state`;
  const batch = claim(file, state);
  let output: number;
  const earlier = new Map<string, EarlierResult>();
  try {
    output = openSync(file, "a+");
    readEarlier(file, output, earlier);
  } catch (error) {
    rmSync(state, { force: true });
    throw new UserError("OUTPUT_FAILED", `${file} cannot be written: ${systemErrorText(error)}.`);
  }
  return {
    batch,
    earlier,
    add(result) {
      const bytes = Buffer.from(`${JSON.stringify(result)}\n`);
      try {
        if (writeSync(output, bytes) < bytes.length) throw new Error("not everything was written");
      } catch (error) {
        throw new UserError("OUTPUT_FAILED", `${file} cannot be written: ${systemErrorText(error)}.`);
      }
    },
    close(isComplete) {
      closeSync(output);
      if (isComplete) rmSync(state, { force: true });
    },
  };
}

/** Writes results to a stream, which cannot be resumed from. */
export function streamResults(write: (line: string) => void): BatchResults {
  return {
    batch: randomUuid(),
    earlier: new Map(),
    add: (result) => write(`${JSON.stringify(result)}\n`),
    close: () => {},
  };
}

function claim(file: string, state: string): string {
  const savedState = readJson(state) as Partial<State> | undefined;
  const { pid } = savedState ?? {};
  if (pid !== undefined && pid !== process.pid && savedState?.host === hostname() && isAlive(pid))
    throw new UserError(
      "STORE_LOCKED",
      `Another batch is writing ${file} (process ${pid}). Wait for it, or choose another file; if that process is something else, delete ${state}`,
    );
  const batch = typeof savedState?.batch === "string" ? savedState.batch : randomUuid();
  try {
    replaceFile(state, `${JSON.stringify({ batch, pid: process.pid, host: hostname() } satisfies State)}\n`);
  } catch (error) {
    throw new UserError("OUTPUT_FAILED", `${state} cannot be written: ${systemErrorText(error)}.`);
  }
  return batch;
}

function readEarlier(file: string, output: number, earlier: Map<string, EarlierResult>): void {
  const bytes = readFileSync(file);
  const whole = bytes.lastIndexOf(10) + 1;
  if (whole < bytes.length) ftruncateSync(output, whole);
  for (let start = 0; start < whole; ) {
    const end = bytes.indexOf(10, start);
    const result = tryParse(bytes.toString("utf8", start, end)) as Partial<BatchResult> | undefined;
    if (typeof result?.id !== "string" || typeof result.outcome !== "string")
      throw new Error("it holds something else than results of a batch. Name another file");
    const { id, outcome, attempt = 1, costUsd } = result;
    earlier.set(id, {
      outcome,
      attempt,
      ...(costUsd !== undefined && { costUsd: costUsd + (earlier.get(id)?.costUsd ?? 0) }),
    });
    start = end + 1;
  }
}
