// Text that strangers wrote, as it may stand in a document: no control characters, no hidden directions.
import { visible, withoutTerminalCodes } from "../text/visible.ts";

/** Colours of terminals are dropped; every other character that could hide something is spelled out. */
export function documentText(text: string): string {
  return visible(withoutTerminalCodes(text));
}
