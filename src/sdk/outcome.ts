// Determines the single outcome of a run from what the CLI reported and how its process ended, never from the exit code alone.
import type { ErrorCode } from "../protocol/error-codes.ts";
import type { Denial, Usage } from "../protocol/event.ts";
import type { TurnEnding } from "../protocol/run.ts";
import { redact } from "../redact/redact.ts";
import { causeIn } from "../text/cause.ts";
import type { CliEnd } from "./child.ts";
import type { AgentDriver, RunLoss } from "./drivers/driver.ts";
import { codeIn } from "./drivers/failures.ts";

/**
 * How a run ended. `success`: the CLI reported success. `error`: it reported a failure, or its output is not reliable.
 * `cancelled`: it was asked to stop. `timeout`: it took too long or fell silent. `crashed`: its process ended without a
 * result.
 */
export type RunOutcome = "success" | "error" | "cancelled" | "timeout" | "crashed";

/** A refused tool call. `name` is the unified tool name, `tool` the CLI's own. */
export type RunDenial = Denial & { name: string };

/** The fields that every result has. */
export type RunDetails = {
  /** The whole answer; without success, the part that arrived. */
  text: string;
  /** The session's id, also if a resumed run failed. */
  sessionId: string | undefined;
  /** The model's name, as the CLI reported it. */
  model: string | undefined;
  /** The usage of all turns of this run. */
  usage: Usage | undefined;
  /** The cost in dollars, if the CLI reports it. */
  costUsd: number | undefined;
  /** The time from the start to the end of the process. */
  durationMs: number;
  /** The number of model replies. */
  turns: number;
  /** Tool calls that were refused. */
  denials: readonly RunDenial[];
  /** Exit code of the process; null if a signal ended it. */
  exitCode: number | null;
  /** The signal that ended the process, or empty. */
  signal: string;
  /** The end of stderr, limited in size. */
  stderr: string;
  /** The stages needed to stop the process; empty if it exited on its own. */
  stages: readonly string[];
  /** Lines of the stream that are unknown, came after the end, or were noise. */
  ignored: number;
  /** Problems that did not prevent success. */
  warnings: readonly string[];
  /** Options that this CLI does not support, and why. */
  losses: readonly RunLoss[];
};

/** The result of a run that succeeded. */
export type RunSuccess<Data> = RunDetails & { outcome: "success"; data: Data };
/** The result of a run that did not succeed. */
export type RunFailure = RunDetails & { outcome: Exclude<RunOutcome, "success">; error: RunError };
/** The result of a run; check `outcome` to tell success from failure. */
export type RunResult<Data = undefined> = RunSuccess<Data> | RunFailure;

/** Why a run has no answer, with secrets that the CLI may have quoted redacted. `code` is a documented error code or the CLI's own. */
export class RunError extends Error {
  readonly outcome: Exclude<RunOutcome, "success">;
  readonly code: ErrorCode | (string & {});

  constructor(outcome: Exclude<RunOutcome, "success">, code: string, message: string) {
    super(redact(message));
    this.name = "RunError";
    this.outcome = outcome;
    this.code = code;
  }
}

/** Returns why a run failed; undefined for success. `ending` is the CLI's final event, `retried` why it last retried its model. */
export function judge(
  end: CliEnd,
  ending: TurnEnding | undefined,
  { failures }: Pick<AgentDriver, "failures">,
  retried?: string,
): RunError | undefined {
  // If this process stopped the CLI, ignore what it printed afterwards.
  if (end.stop === "cancelled") return new RunError("cancelled", "INTERRUPTED", endMessage(end));
  if (end.stop === "timedOut" || end.stop === "silent") {
    const why = retried === undefined ? "" : ` It was trying again after: ${retried}.`;
    return new RunError("timeout", "CLI_TIMEOUT", endMessage(end) + why);
  }
  if (ending?.type === "done") return undefined;
  if (ending) {
    const code = ending.code ?? codeIn(ending.message, failures) ?? "CLI_FAILED";
    const isEndedFromOutside = code === "INTERRUPTED" || code === "TERMINATED"; // the signal came from another process
    return new RunError(isEndedFromOutside ? "cancelled" : "error", code, forPrograms(ending.message, code));
  }
  const isCrash = end.signal !== "" || (end.exitCode !== null && end.exitCode !== 0);
  if (!end.error)
    return new RunError("error", "NO_RESULT", `The CLI exited with code ${end.exitCode} without a result.`);
  const stderrCode = isCrash ? codeIn(end.stderr, failures) : undefined;
  if (stderrCode !== undefined) return new RunError("error", stderrCode, forPrograms(causeIn(end.stderr), stderrCode));
  return new RunError(isCrash && isProcessFault(end) ? "crashed" : "error", end.error.code, end.error.message);
}

/** Advice for users of the SDK, added to an error message, in place of the command that the CLI suggests. */
const remedies: Readonly<Record<string, string>> = {
  UNTRUSTED: "In a program: trust: true, which is remembered, or permissionMode: 'force', for one run.",
  SESSION_NOT_FOUND: "In a program: listSessions() lists them.",
};

function forPrograms(message: string, code: string): string {
  const plain = message.replace(/^Error: /, "").replace(` [${code}]`, "");
  const remedy = Object.hasOwn(remedies, code) ? remedies[code] : undefined;
  return remedy === undefined ? plain : `${plain}\n${remedy}`;
}

function endMessage({ error }: CliEnd): string {
  return error?.message ?? "The run was stopped.";
}

/** A stream that breaks off points to a crash; a stream with invalid content does not. */
function isProcessFault({ error, stop }: CliEnd): boolean {
  if (stop === "faulty") return false;
  return error?.code === "CLI_EXIT" || error?.code === "FRAME_TRUNCATED" || error?.code === "NO_OUTPUT";
}
