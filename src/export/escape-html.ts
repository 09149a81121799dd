// Escapes untrusted text for HTML: no markup of its own, nothing hidden.
import { documentText } from "../view/document-text.ts";

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for use in HTML, both in text and in attributes. */
export function escapeHtml(text: string): string {
  return documentText(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
