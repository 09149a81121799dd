// How a run ended: exactly one outcome, told by what the CLI said and how its process ended, never by the exit code alone.
import type { ErrorCode } from "../protocol/error-codes.ts";
import type { Denial, Usage } from "../protocol/event.ts";
import type { TurnEnding } from "../protocol/run.ts";
import { redact } from "../redact/redact.ts";
import { causeIn } from "../text/cause.ts";
import type { CliEnd } from "./child.ts";
import type { AgentDriver, RunLoss } from "./drivers/driver.ts";
import { codeIn } from "./drivers/failures.ts";

/**
 * `success`: it said so. `error`: it said that it failed, or what it said is not to be relied on. `cancelled`: it was asked
 * to end. `timeout`: it took too long or fell silent. `crashed`: its process ended without saying how.
 */
export type RunOutcome = "success" | "error" | "cancelled" | "timeout" | "crashed";

/** `name`: by the one list of names. `tool`: as the CLI says it. */
export type RunDenial = Denial & { name: string };

/** What every result tells. */
export type RunFacts = {
  /** The whole answer; without success, the part that arrived. */
  text: string;
  /** The session's id, also if a resumed run failed. */
  sessionId: string | undefined;
  /** The model's name, as the CLI reported it. */
  model: string | undefined;
  /** Of all turns of this run. */
  usage: Usage | undefined;
  /** If the CLI reports it. */
  costUsd: number | undefined;
  /** From the start to the end of the process. */
  durationMs: number;
  /** Number of model replies. */
  turns: number;
  /** Denied calls. */
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

export type RunSuccess<Data> = RunFacts & { outcome: "success"; data: Data };
export type RunFailure = RunFacts & { outcome: Exclude<RunOutcome, "success">; error: RunError };
export type RunResult<Data = undefined> = RunSuccess<Data> | RunFailure;

/** Why a run has no answer, without the secrets that a CLI may have quoted. Its `code` is a row of the table of error codes, or the CLI's own word. */
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

/** Undefined: success. `ending`: the last word of the CLI, if it had one. `retried`: why it asked its model once more. */
export function judge(
  end: CliEnd,
  ending: TurnEnding | undefined,
  { failures }: Pick<AgentDriver, "failures">,
  retried?: string,
): RunError | undefined {
  // Why this side ended it comes first: what a CLI says while it is being ended is not an answer.
  if (end.stop === "cancelled") return new RunError("cancelled", "INTERRUPTED", messageOf(end));
  if (end.stop === "timedOut" || end.stop === "silent") {
    const why = retried === undefined ? "" : ` It was trying again after: ${retried}.`;
    return new RunError("timeout", "CLI_TIMEOUT", messageOf(end) + why);
  }
  if (ending?.type === "done") return undefined;
  if (ending) {
    const code = ending.code ?? codeIn(ending.message, failures) ?? "CLI_FAILED";
    const isEndedFromOutside = code === "INTERRUPTED" || code === "TERMINATED"; // somebody else sent the signal
    return new RunError(isEndedFromOutside ? "cancelled" : "error", code, forPrograms(ending.message, code));
  }
  const isCrash = end.signal !== "" || (end.exitCode !== null && end.exitCode !== 0);
  if (!end.error)
    return new RunError("error", "NO_RESULT", `The CLI exited with code ${end.exitCode} without a result.`);
  const said = isCrash ? codeIn(end.stderr, failures) : undefined;
  if (said !== undefined) return new RunError("error", said, forPrograms(causeIn(end.stderr), said));
  return new RunError(isCrash && isProcessFault(end) ? "crashed" : "error", end.error.code, end.error.message);
}

/** What a CLI tells people to type, in the words of the SDK. */
const remedies: Readonly<Record<string, string>> = {
  UNTRUSTED: "In a program: trust: true, which is remembered, or permissionMode: 'force', for one run.",
  SESSION_NOT_FOUND: "In a program: listSessions() lists them.",
};

function forPrograms(message: string, code: string): string {
  const plain = message.replace(/^Error: /, "").replace(` [${code}]`, "");
  const remedy = Object.hasOwn(remedies, code) ? remedies[code] : undefined;
  return remedy === undefined ? plain : `${plain}\n${remedy}`;
}

function messageOf({ error }: CliEnd): string {
  return error?.message ?? "The run was stopped.";
}

/** A stream that breaks off is the trace of a crash; one that is wrong from within is not. */
function isProcessFault({ error, stop }: CliEnd): boolean {
  if (stop === "faulty") return false;
  return error?.code === "CLI_EXIT" || error?.code === "FRAME_TRUNCATED" || error?.code === "NO_OUTPUT";
}
