// Redact, then cut: half a secret looks like nothing, and would be shown. What is cut for a message or a log is cut here.
import { shortened } from "../text/one-line.ts";
import { redact } from "./redact.ts";

type Hide = (text: string) => string;

/** Far behind every cut, and enough for any message: what comes after it is not looked at. */
const mostRead = 256 * 1024;

/** The beginning of a text without its secrets, and an ellipsis where there is more. `hide`: a redactor that knows values in use. */
export function redactedStart(text: string, longest: number, hide: Hide = redact): string {
  return shortened(hide(text.slice(0, mostRead)), longest);
}

/** The same of the end, for what programs say last. */
export function redactedEnd(text: string, longest: number, hide: Hide = redact): string {
  const clean = hide(text.slice(-mostRead));
  return clean.length > longest ? `…${clean.slice(-longest).replace(/^[\udc00-\udfff]/, "")}` : clean;
}
