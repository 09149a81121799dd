// Redacts before truncating text for a message or a log: half a secret is not recognised, and would be shown.
import { shortened } from "../text/one-line.ts";
import { redact } from "./redact.ts";

type Hide = (text: string) => string;

/** How many characters of a text are read: more than any limit of a message. */
const maxRead = 256 * 1024;

/** Returns the redacted start of a text, with an ellipsis if it was cut. `hide` is a redactor that knows the values in use. */
export function redactedStart(text: string, longest: number, hide: Hide = redact): string {
  return shortened(hide(text.slice(0, maxRead)), longest);
}

/** Returns the redacted end of a text, for the last output of programs. */
export function redactedEnd(text: string, longest: number, hide: Hide = redact): string {
  const clean = hide(text.slice(-maxRead));
  return clean.length > longest ? `…${clean.slice(-longest).replace(/^[\udc00-\udfff]/, "")}` : clean;
}
