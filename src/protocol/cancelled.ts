// Builds the error of a cancelled run, with the reason of the AbortSignal if there is one.
import { UserError } from "./error-codes.ts";

export function cancelled(signal: AbortSignal | undefined): UserError {
  const why = abortReasonText(signal?.reason);
  return new UserError(
    "INTERRUPTED",
    why === "" ? "The run was cancelled." : `The run was cancelled: ${why.replace(/\.$/, "")}.`,
  );
}

/** `abort()` without a reason gives an AbortError, which has no useful message. */
function abortReasonText(reason: unknown): string {
  if (typeof reason === "string") return reason.trim();
  return reason instanceof Error && reason.name !== "AbortError" ? reason.message.trim() : "";
}
