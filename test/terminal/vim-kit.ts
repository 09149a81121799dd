// Drives the vim engine as the editor does, without a screen.
import { createBuffer, joinUndoGroup, moveTo, type TextBuffer } from "../../src/terminal/editor/buffer.ts";
import { edits, typeText } from "../../src/terminal/editor/edits.ts";
import { emptyRing } from "../../src/terminal/editor/kill-ring.ts";
import { leaveInsert, newVim, pressVim, type Vim } from "../../src/terminal/editor/vim/index.ts";
import { keyOf } from "./editor-kit.ts";

export type VimState = { vim: Vim; buffer: TextBuffer };

export function vimOn(text: string, cursor: number): VimState {
  return { vim: { ...newVim(), mode: "normal" }, buffer: moveTo(createBuffer(text), cursor) };
}

/** Keys as they are typed; `\x1b` is Escape, `\x12` Ctrl+R, `\x7f` backspace. */
export function typeVim(state: VimState, keys: string): VimState {
  let { vim, buffer } = state;
  for (const letter of keys) {
    const key = keyOf(
      { "\x1b": "escape", "\x12": "ctrl+r", "\x7f": "backspace", " ": "space", "\n": "enter" }[letter] ?? letter,
    );
    if (key.type !== "key") continue;
    if (vim.mode !== "insert") ({ vim, buffer } = pressVim(vim, buffer, key) ?? { vim, buffer });
    else if (key.name === "escape") ({ vim, buffer } = leaveInsert(vim, buffer));
    else if (key.name === "backspace")
      buffer = joinUndoGroup(buffer, edits.deleteBack!({ buffer, ring: emptyRing })!.buffer, vim.group);
    else if (key.text !== undefined || key.name === "enter") buffer = typeText(buffer, key.text ?? "\n", vim.group);
  }
  return { vim, buffer };
}
