// What a cancelled run says of itself: with the reason of the AbortSignal, where somebody gave one.
import { UserError } from "./error-codes.ts";

export function cancelled(signal: AbortSignal | undefined): UserError {
  const why = reasonOf(signal?.reason);
  return new UserError(
    "INTERRUPTED",
    why === "" ? "The run was cancelled." : `The run was cancelled: ${why.replace(/\.$/, "")}.`,
  );
}

/** `abort()` without a reason gives an AbortError, which says nothing more. */
function reasonOf(reason: unknown): string {
  if (typeof reason === "string") return reason.trim();
  return reason instanceof Error && reason.name !== "AbortError" ? reason.message.trim() : "";
}
