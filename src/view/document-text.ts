// Makes untrusted text safe for a document: no control characters, no hidden direction marks.
import { visible, withoutTerminalCodes } from "../text/visible.ts";

/** Removes terminal colours, and escapes all other characters that could hide something. */
export function documentText(text: string): string {
  return visible(withoutTerminalCodes(text));
}
