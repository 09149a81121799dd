// Handles keys pressed at a question that belong to the draft the user was writing when the question appeared.
import type { Editor } from "../editor/editor.ts";
import type { Key } from "../key.ts";

/** Returns whether a key is Enter and should send the draft in the editor. */
export function sendsDraft(key: Key, editor: Editor): boolean {
  return key.type === "key" && key.name === "enter" && !editor.isEmpty();
}

/** Returns whether a key would choose an answer before the user can have read the question. Such keys are ignored. */
export function isTooEarly(key: Key, editor: Editor): boolean {
  if (key.type === "paste") return false;
  return key.name === "up" || key.name === "down" || (key.name === "enter" && editor.isEmpty());
}
