// Text that strangers wrote, made safe to show in a document: no control characters, no hidden directions, no markup of its own.
import { visible, withoutTerminalCodes } from "../text/visible.ts";

/** Colours of terminals are dropped; every other character that could hide something is spelled out. */
export function documentText(text: string): string {
  return visible(withoutTerminalCodes(text));
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For text and attributes of HTML alike. */
export function escapeHtml(text: string): string {
  return documentText(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
