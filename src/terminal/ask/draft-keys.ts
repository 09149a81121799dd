// Keys at a question that are not for the question: somebody is writing while it comes.
import type { Editor } from "../editor/editor.ts";
import type { Key } from "../key.ts";

/** Enter sends what was being written when the question came. */
export function sendsDraft(key: Key, editor: Editor): boolean {
  return key.type === "key" && key.name === "enter" && !editor.isEmpty();
}

/** A choice that is made before the question can have been read: what is written goes on, and nothing else happens. */
export function isTooEarly(key: Key, editor: Editor): boolean {
  if (key.type === "paste") return false;
  return key.name === "up" || key.name === "down" || (key.name === "enter" && editor.isEmpty());
}
