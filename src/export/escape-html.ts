// Text that strangers wrote, made safe to stand in HTML: no markup of its own, nothing hidden.
import { documentText } from "../view/document-text.ts";

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For text and attributes of HTML alike. */
export function escapeHtml(text: string): string {
  return documentText(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
