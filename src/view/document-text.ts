// Makes untrusted text safe for a document: no control characters, no hidden direction marks.
import { visible, withoutTerminalCodes } from "../text/visible.ts";

/** Drops terminal colours, and escapes every other character that could hide something. */
export function documentText(text: string): string {
  return visible(withoutTerminalCodes(text));
}
