// What tests of the editor share: keys by name, a palette that can be read, the view with its cursor.
import type { Editor, Pressed } from "../../src/terminal/editor/editor.ts";
import type { EditorPalette } from "../../src/terminal/editor/editor-view.ts";
import type { Key } from "../../src/terminal/key.ts";
import type { Painted } from "../../src/terminal/painted.ts";
import type { Size } from "../../src/terminal/view.ts";

const plain = (text: string) => text as Painted;

export const testPalette: EditorPalette = {
  plain,
  soft: plain,
  bold: plain,
  accent: plain,
  warn: plain,
  reverse: (text) => `[${text}]` as Painted,
};

const named =
  /^(?:(?:ctrl|alt|shift)\+.+|enter|escape|tab|backspace|delete|up|down|left|right|home|end|pageup|pagedown|space|f\d+)$/;

export function keyOf(name: string): Key {
  if (name === "space") return { type: "key", name, text: " " };
  if (named.test(name)) return { type: "key", name };
  return { type: "key", name: /^[A-Z]$/.test(name) ? `shift+${name.toLowerCase()}` : name, text: name };
}

/** Names of keys with blanks between them; any other word is typed letter by letter. The answer to the last key. */
export function press(editor: Editor, keys: string): Pressed {
  let last: Pressed = { type: "handled" };
  for (const word of keys.split(" ")) {
    for (const name of named.test(word) ? [word] : word) last = editor.press(keyOf(name));
  }
  return last;
}

export function paste(editor: Editor, text: string): Pressed {
  return editor.press({ type: "paste", text });
}

/** The lines of the view, with ▏ where the cursor stands. */
export function shownLines(editor: Editor, size: Size): string[] {
  const { lines, cursor } = editor.view(size);
  return lines.map((line, row) => {
    if (cursor?.row !== row) return line.trimEnd();
    return `${line.slice(0, cursor.column).padEnd(cursor.column)}▏${line.slice(cursor.column)}`.trimEnd();
  });
}
