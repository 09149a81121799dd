// Text that strangers wrote, made safe to show: no control characters, no hidden directions, no markup of its own.

const colours = /\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)/g;
/** What cannot be seen, or turns the order of what can. */
const hidden =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Colours of terminals are dropped; every other character that could hide something is spelled out. */
export function visible(text: string): string {
  return text
    .replace(colours, "")
    .replace(/\r\n?/g, "\n")
    .replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For text and attributes of HTML alike. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
