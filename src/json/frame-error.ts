// Defines FrameError: why a stream of frames was abandoned. Nothing more is delivered after it.

/** Error codes of a stream, a part of those in protocol/error-codes.ts. */
export type FrameErrorCode =
  | "FRAME_ENCODING"
  | "FRAME_TRUNCATED"
  | "FRAME_TOO_LARGE"
  | "FRAME_MALFORMED"
  | "FRAME_SCHEMA"
  | "FRAME_SESSION"
  | "FRAME_VERSION"
  | "TOOL_UNKNOWN"
  | "TOOL_ARGUMENTS"
  | "CLI_EXIT"
  | "CLI_TIMEOUT"
  | "NO_OUTPUT"
  | "NO_RESULT";

/** Thrown when a stream of frames cannot be read any further. */
export class FrameError extends Error {
  readonly code: FrameErrorCode;
  /** What the child process wrote to stderr, if known. */
  readonly stderr: string | undefined;

  constructor(code: FrameErrorCode, message: string, options: { stderr?: string } = {}) {
    super(message);
    this.name = "FrameError";
    this.code = code;
    this.stderr = options.stderr;
  }
}
