// FrameError: why a stream of frames was given up. After one of these nothing more is delivered.
import type { ErrorCode } from "./error-codes.ts";

export class FrameError extends Error {
  readonly code: ErrorCode;
  /** What the child had written to stderr, where that was known. */
  readonly stderr: string | undefined;

  constructor(code: ErrorCode, message: string, options: { stderr?: string } = {}) {
    super(message);
    this.name = "FrameError";
    this.code = code;
    this.stderr = options.stderr;
  }
}
