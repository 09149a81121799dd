// What print mode writes: events to stdout in the chosen format, exactly one ending, everything else to stderr.
import { type ErrorCode, errorCodes, exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { errorLine, explainFailure, resultText } from "./failure.ts";
import { type OutputFormat, type OutputOptions, outputs } from "./outputs.ts";
import type { RunSession } from "../run/session.ts";
import { openStdout, withoutSecrets, writeStderr } from "./stdout.ts";

export interface Reporter {
  emit(event: AgentEvent): void;
  /** Ends the run with an error, unless it has ended already. */
  fail(error: unknown): void;
  /** Resolves when the reader has caught up enough for more. */
  ready(): Promise<void> | undefined;
  /** The result is out: what comes now is not shown. */
  readonly hasEnded: boolean;
  /** A further turn begins, with a result of its own. */
  next(): void;
  /** Ends between two turns: nobody waits for a result. */
  stop(error: UserError): void;
  /** The reader went away: nobody is left to tell. */
  readonly isClosed: boolean;
  /** Waits until everything is written; the exit code of the last turn that failed comes back, else 0. */
  finish(): Promise<number>;
}

type Ending = Extract<AgentEvent, { type: "done" | "fail" }>;

/** A reader that stalls after an abort is not waited for any longer than this. */
const stalledMs = 3500;

export type ReporterOptions = {
  format: OutputFormat;
  partial: boolean;
  compat: OutputOptions["compat"];
  /** Events are kept before they are shown. */
  session: Pick<RunSession, "id" | "record">;
  /** Is given the last answer as text mode shows it. Throws UserError when it cannot take it. */
  onAnswer?: (text: string) => void;
};

export function createReporter(
  { format, session, onAnswer, ...options }: ReporterOptions,
  abort: AbortController,
): Reporter {
  const output = outputs[format]({ sessionId: session.id, ...options });
  const answer = onAnswer && outputs.text();
  let startedAt = Date.now();
  let ending: Ending | undefined;
  let exit = 0;
  let isStopped = false;
  let isClosed = false;
  const stdout = openStdout(
    () => {
      isClosed = true;
      abort.abort(new UserError("INTERRUPTED", "The reader of the output went away."));
    },
    (error) => {
      const failure = new UserError(
        error.code === "ENOSPC" ? "STORE_FULL" : "INTERNAL",
        `The output cannot be written: ${error.message}`,
      );
      abort.abort(failure);
      fail(failure);
    },
  );

  function emit(event: AgentEvent): void {
    if (ending) return;
    const failure = handOver(event) ?? keep(event);
    if (failure && event.type !== "fail") {
      // Said as the run's result, which is not kept either: there is nowhere to keep it.
      abort.abort(failure);
      fail(failure);
      return;
    }
    if (event.type === "done" || event.type === "fail") ending = event;
    const shown = event.type === "fail" ? { ...event, message: withoutSecrets(resultText(event.message)) } : event;
    const text = output.encode(shown);
    if (text) stdout.write(text);
  }

  function handOver(event: AgentEvent): UserError | undefined {
    const text = answer?.encode(event);
    return text === undefined ? undefined : unlessUserError(() => onAnswer!(text));
  }

  /** Deltas are kept where they are shown; elsewhere the whole text that follows them is enough. */
  function keep(event: AgentEvent): UserError | undefined {
    if ((event.type === "text" || event.type === "thinking") && !options.partial) return undefined;
    return unlessUserError(() => session.record(event));
  }

  function fail(error: unknown): void {
    emit({ type: "fail", ...explainFailure(error), durationMs: Date.now() - startedAt, apiDurationMs: 0 });
  }

  /** What people are told of how the turn ended. */
  function settle(): void {
    if (!ending) return;
    for (const denial of ending.denials ?? []) writeStderr(`Rejected: ${denial.tool}: ${denial.reason}\n`);
    if (ending.type === "done") return;
    const code = codeOf(ending.code);
    writeStderr(errorLine(ending.message, code));
    exit = exitCodeOf(code);
  }

  return {
    emit,
    fail,
    next() {
      settle();
      ending = undefined;
      startedAt = Date.now();
    },
    stop(error) {
      settle();
      isStopped = true;
      writeStderr(errorLine(error.message, error.code));
      exit = exitCodeOf(error.code);
    },
    ready: () => stdout.ready(),
    get hasEnded() {
      return ending !== undefined;
    },
    get isClosed() {
      return isClosed;
    },
    async finish() {
      await stdout.flush(abort.signal.aborted ? stalledMs : undefined);
      if (isClosed) return 141; // as if SIGPIPE had ended it, which is what readers like `head` expect
      if (isStopped) return exit;
      ending ??= { type: "fail", message: "The run ended without a result.", durationMs: 0, apiDurationMs: 0 };
      settle();
      return exit;
    },
  };
}

function unlessUserError(step: () => void): UserError | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function codeOf(code: string | undefined): ErrorCode {
  return code !== undefined && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : "INTERNAL";
}
