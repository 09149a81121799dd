// The output of print mode: events to stdout in the chosen format, exactly one result per turn, everything else to stderr.
import { fstatSync } from "node:fs";
import { type ErrorCode, errorCodes, exitCodeOf, resultText, UserError } from "../protocol/error-codes.ts";
import type { Spending } from "../protocol/event.ts";
import type { Recorded, TurnEnding } from "../protocol/run.ts";
import { encodeEvent } from "../protocol/stream-json.ts";
import { noSpending } from "../protocol/usage.ts";
import { visible } from "../text/visible.ts";
import { errorLine, explainFailure } from "./failure.ts";
import { type OutputFormat, type OutputOptions, outputs, type Reshape } from "./outputs.ts";
import { openStdout, withoutSecrets, writeStderr } from "./stdout.ts";

export interface Reporter {
  /** Shows an event. After a result, the next turn begins with the next event that is not a notice. */
  emit(recorded: Recorded): void;
  /** Ends the turn with an error, unless it has already ended. No output follows. */
  fail(error: unknown, usage?: Spending): void;
  /** Like `fail`, but writes a separate result even after an earlier one. */
  failAnew(error: unknown): void;
  /** Ends the output between two turns, without writing a result. */
  stop(error: UserError): void;
  /** Writes a line of JSON that is not an event. */
  line(value: object): void;
  /** Adapts the output to a host, which takes more than a reader of the plain stream. */
  serveHost(host: HostView): void;
  /** Resolves when the reader has caught up enough for more. */
  ready(): Promise<void> | undefined;
  readonly firstNumber: number | undefined;
  /** Whether the result of the turn was written. */
  readonly hasEnded: boolean;
  /** Whether the last turn ended with an error of the same code. */
  endedBy(error: unknown): boolean;
  /** The number of bytes the reader has taken while more are pending; undefined if none are. */
  taken(): number | undefined;
  /** Waits until everything is written. Returns the exit code of the last turn that failed, else 0. */
  finish(): Promise<number>;
  /** Like `finish`, but does not wait: output that the reader has not read by then is lost. */
  finishNow(): number;
}

/** What the host on stdin wants to receive besides the agent's own events. */
export type HostView = { toolOutput: boolean; subagents: boolean };

export type ReporterOptions = OutputOptions & { format: OutputFormat; reshape?: Reshape | undefined };

export function createReporter({ format, reshape, ...options }: ReporterOptions, abort: AbortController): Reporter {
  const { sessionId, compat } = options;
  const output = outputs[format](options);
  // Escape the model's control characters on a person's terminal; a program gets the bytes as they are.
  // stdout is a terminal; checked without `node:tty`, which takes 3 ms to load
  const isForPerson = format === "text" && fstatSync(1).isCharacterDevice();
  const forReader = (text: string) => (isForPerson ? visible(text.replaceAll("\r\n", "\n")) : text);
  let startedAt = Date.now();
  let ending: TurnEnding | undefined;
  let host: HostView | undefined;
  let firstNumber: number | undefined;
  let exit = 0;
  let isOver = false;
  let isStopped = false;
  /** The exit code for when stdout cannot be written any more. */
  let broken: number | undefined;
  const breakOff = (exitCode: number, reason: UserError) => {
    broken = exitCode;
    isOver = true;
    abort.abort(reason);
  };
  const stdout = openStdout(
    // Exit as if SIGPIPE had ended the program, which is what readers like `head` expect.
    () => breakOff(141, new UserError("INTERRUPTED", "The reader closed the output.")),
    (fault) => breakOff(exitCodeOf(fault.code), fault), // reported when the program exits
  );

  function emit(recorded: Recorded): void {
    const { event, agent, number } = recorded;
    if (isOver) return;
    if (agent !== undefined) {
      if (host?.subagents) hostLine(recorded);
      return;
    }
    if (event.type === "notice" && format === "text")
      writeStderr(`${event.kind === "worktree" ? "" : "Warning: "}${event.message}\n`);
    firstNumber ??= number;
    if (ending) {
      // A notice after a result belongs to the next turn, if there is one. A host gets it between the two.
      if (event.type === "notice") {
        if (host) hostLine(recorded);
        return;
      }
      reportEnd();
      ending = undefined;
      startedAt = Date.now();
    }
    if (event.type === "done" || event.type === "fail") ending = event;
    const redactedEvent =
      event.type === "fail" ? { ...event, message: withoutSecrets(resultText(event.message)) } : event;
    const reshaped = reshape ? reshape(redactedEvent) : redactedEvent;
    if (!reshaped) return;
    if (host) hostLine({ ...recorded, event: reshaped });
    else stdout.write(forReader(output.encode(reshaped) ?? ""));
  }

  function hostLine({ event, agent, number }: Recorded): void {
    const extra = {
      ...(agent !== undefined && { agent_id: agent }),
      ...(number !== undefined && { event_number: number }),
    };
    const line = encodeEvent(event, sessionId, { partial: options.partial, compat, live: host?.toolOutput === true });
    if (line) stdout.write(`${JSON.stringify({ ...line, ...extra })}\n`);
  }

  function fail(error: unknown, usage?: Spending): void {
    if (!ending) emit({ event: failedEnding(error, usage) });
    isOver = true;
  }

  function failedEnding(error: unknown, usage = noSpending): TurnEnding {
    const numbers = { durationMs: Date.now() - startedAt, apiDurationMs: 0, requestId: crypto.randomUUID(), usage };
    return { type: "fail", ...explainFailure(error), ...numbers };
  }

  function reportEnd(): void {
    if (!ending) return;
    // The JSON formats have denials in the result, and stderr stays empty on success.
    const denials = format === "text" ? ending.denials : undefined;
    for (const denial of denials ?? []) writeStderr(`Rejected: ${denial.tool}: ${denial.reason}\n`);
    if (ending.type === "done") return;
    const code = knownErrorCode(ending.code);
    writeStderr(errorLine(withoutSecrets(ending.message), code));
    exit = exitCodeOf(code);
  }

  async function finish(): Promise<number> {
    const isOut = await stdout.flush(abort.signal);
    if (broken !== undefined) return broken;
    if (isStopped) return exit;
    ending ??= { type: "fail", message: "The run ended without a result.", durationMs: 0, apiDurationMs: 0 };
    reportEnd();
    // Treat output that could not be written as a failure.
    return isOut || exit !== 0 ? exit : lateCode(abort.signal.reason);
  }
  let finishing: Promise<number> | undefined;

  return {
    emit,
    fail,
    failAnew(error) {
      emit({ event: failedEnding(error) });
      isOver = true;
    },
    stop(error) {
      if (broken !== undefined) return;
      reportEnd();
      isStopped = true;
      writeStderr(errorLine(error.message, error.code));
      exit = exitCodeOf(error.code);
    },
    line: (value) => stdout.write(`${JSON.stringify(value)}\n`),
    serveHost(view) {
      host = format === "stream-json" ? view : undefined;
    },
    ready: () => stdout.ready(abort.signal),
    taken: () => stdout.taken(),
    get firstNumber() {
      return firstNumber;
    },
    get hasEnded() {
      return ending !== undefined;
    },
    endedBy: (error) => ending?.type === "fail" && error instanceof UserError && ending.code === error.code,
    finish: () => (finishing ??= finish()),
    finishNow() {
      reportEnd();
      return broken ?? exit;
    },
  };
}

/** Returns the exit code for a result that the reader did not take in time. */
function lateCode(reason: unknown): number {
  const { code, message } = explainFailure(reason);
  writeStderr(errorLine(`${message} The reader of the output had not taken all of it.`, code));
  return exitCodeOf(code);
}

function knownErrorCode(code: string | undefined): ErrorCode {
  return code !== undefined && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : "INTERNAL";
}
