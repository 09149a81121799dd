// The table of error codes that programs can switch on.

/** `exit` is the CLI's exit code. `retry`: the same request may succeed later. */
type CodeInfo = { exit: number; retry?: true };

/** Every documented error: its exit code, and whether trying again may help. */
export const errorCodes = {
  USAGE: { exit: 2 },
  UNTRUSTED: { exit: 1 },
  NOT_SUPPORTED: { exit: 1 },
  NOT_AUTHENTICATED: { exit: 1 },
  OFFLINE_LIMIT: { exit: 1 },
  CONFIG_INVALID: { exit: 1 },
  CONFIG_UNREADABLE: { exit: 1 },
  CONFIG_TOO_LARGE: { exit: 1 },
  CWD_MISSING: { exit: 1 },
  FILE_UNREADABLE: { exit: 1 },
  SESSION_NOT_FOUND: { exit: 1 },
  STORE_LOCKED: { exit: 1, retry: true },
  STORE_FULL: { exit: 1 },
  STORE_IO: { exit: 1 },
  STORE_READONLY: { exit: 1 },
  STORE_CORRUPT: { exit: 1 },
  STORE_MISSING_BLOB: { exit: 1 },
  STORE_BLOB_HASH: { exit: 1 },
  STORE_FAILED: { exit: 1 },
  OUTPUT_FAILED: { exit: 1 },
  UPDATE_FAILED: { exit: 1 },
  INSTALL_REFUSED: { exit: 1 },
  SANDBOX_UNAVAILABLE: { exit: 1 },
  MCP_UNREACHABLE: { exit: 1, retry: true },
  PORT_TAKEN: { exit: 1 },
  BROWSER_MISSING: { exit: 1 },
  GIT_FAILED: { exit: 1 },
  WORKTREE_SETUP: { exit: 1 },
  MERGE_REFUSED: { exit: 1 },

  RUN_NOT_FOUND: { exit: 1 },
  RUN_OVER: { exit: 1 },
  AGENT_BUSY: { exit: 1, retry: true },
  AGENT_ARCHIVED: { exit: 1 },
  LEASE_LOST: { exit: 1 },
  QUESTION_CLOSED: { exit: 1 },
  FLEET_UNREACHABLE: { exit: 1, retry: true },
  FLEET_REFUSED: { exit: 1 },
  FLEET_UNSUITABLE: { exit: 1 },
  FLEET_FULL: { exit: 1 },
  FLEET_CLIENT_MISSING: { exit: 1 },

  MODEL_UNKNOWN: { exit: 1 },
  MODEL_AUTH_ERROR: { exit: 1 },
  MODEL_RATE_LIMIT: { exit: 1, retry: true },
  MODEL_OVERLOADED: { exit: 1, retry: true },
  MODEL_SERVER_ERROR: { exit: 1, retry: true },
  MODEL_UNREACHABLE: { exit: 1, retry: true },
  MODEL_TIMEOUT: { exit: 1, retry: true },
  MODEL_TRUNCATED: { exit: 1, retry: true },
  MODEL_BAD_RESPONSE: { exit: 1, retry: true },
  MODEL_BAD_REQUEST: { exit: 1 },
  MODEL_OVERFLOW: { exit: 1 },
  MODEL_REFUSED: { exit: 1 },
  MODEL_EMPTY: { exit: 1, retry: true },
  OUTPUT_CUT: { exit: 1 },
  MODEL_TOO_LONG: { exit: 1 },

  RECORDING_INVALID: { exit: 1 },
  REPLAY_DIVERGED: { exit: 1 },
  TASK_INVALID: { exit: 1 },

  PROMPT_BLOCKED: { exit: 1 },
  PROMPT_TOO_LARGE: { exit: 1 },
  MAX_TURNS: { exit: 1 },
  MAX_TIME: { exit: 1 },
  MAX_COST: { exit: 1 },
  MAX_TOKENS: { exit: 1 },
  MAX_SILENCE: { exit: 1 },
  NOT_DONE: { exit: 5 },
  BACKGROUND_CUT_OFF: { exit: 1 },
  OUTPUT_SCHEMA: { exit: 1 },
  LOOP_DETECTED: { exit: 1 },
  INTERRUPTED: { exit: 130 },
  TERMINATED: { exit: 143 },
  PARENT_GONE: { exit: 1 },
  INTERNAL: { exit: 1 },

  CALLBACK_FAILED: { exit: 1 },
  CLI_NOT_FOUND: { exit: 1 },
  CLI_EXIT: { exit: 1 },
  CLI_TIMEOUT: { exit: 1 },
  CLI_FAILED: { exit: 1 },
  NO_OUTPUT: { exit: 1 },
  NO_RESULT: { exit: 1 },
  FRAME_ENCODING: { exit: 1 },
  FRAME_TRUNCATED: { exit: 1 },
  FRAME_TOO_LARGE: { exit: 1 },
  FRAME_MALFORMED: { exit: 1 },
  FRAME_SCHEMA: { exit: 1 },
  FRAME_SESSION: { exit: 1 },
  FRAME_VERSION: { exit: 1 },
  TOOL_UNKNOWN: { exit: 1 },
  TOOL_ARGUMENTS: { exit: 1 },
} satisfies Record<string, CodeInfo>;

/** The name of a documented error. */
export type ErrorCode = keyof typeof errorCodes;

/** Returns the exit code of the CLI for an error. */
export function exitCodeOf(code: ErrorCode): number {
  return errorCodes[code].exit;
}

/** Returns whether it may help to try again after this error. */
export function isRetryable(code: ErrorCode): boolean {
  return (errorCodes[code] as CodeInfo).retry === true;
}

/** Finds the code in the CLI's stderr, whose message ends with it: `Error: … [CODE]`. */
export function codeNamedIn(stderr: string): ErrorCode | undefined {
  const named = /\[([A-Z]+(?:_[A-Z]+)*)\]\s*$/m.exec(stderr)?.[1];
  return named !== undefined && Object.hasOwn(errorCodes, named) ? (named as ErrorCode) : undefined;
}

/** An error that the user can fix: a wrong flag, file or key. Shown as its message, without a stack. */
export class UserError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = "UserError";
    this.code = code;
  }
}

/** What the user asked for cannot be done as it was written. */
export function usageError(message: string): UserError {
  return new UserError("USAGE", message);
}

/** Returns the code and a readable message. Any error other than a UserError is a bug and is shown with its stack. */
export function explainError(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof UserError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "INTERNAL", message: `Unexpected failure, please report it: ${message}` };
}

/** Converts any error to a UserError, so that unexpected errors end a run in the same way. */
export function faultOf(error: unknown): UserError {
  if (error instanceof UserError) return error;
  const { code, message } = explainError(error);
  return new UserError(code, message);
}

/** Formats a failure message as the stream's result line spells it. */
export function resultText(message: string): string {
  return `Error: ${message}`;
}
