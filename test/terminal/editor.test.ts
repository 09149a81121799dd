// The editor as its user meets it: keys in, text and view out.
import { describe, expect, it } from "vitest";
import { createEditor } from "../../src/terminal/editor/editor.ts";
import { press, shownLines, testPalette } from "./editor-kit.ts";

describe("the editor", () => {
  it("submits on Enter and starts anew", () => {
    const editor = createEditor({ palette: testPalette });
    expect(press(editor, "hello enter")).toMatchObject({ type: "submit", text: "hello", images: [], shell: false });
    expect(editor.isEmpty()).toBe(true);
    expect(press(editor, "enter")).toEqual({ type: "unhandled" });
  });

  it("breaks the line by Shift+Enter, Ctrl+J, Alt+Enter, and a backslash before Enter", () => {
    const editor = createEditor({ palette: testPalette });
    press(editor, "a shift+enter b ctrl+j c alt+enter d \\ enter e");
    expect(editor.text()).toBe("a\nb\nc\nd\ne");
    expect(shownLines(editor, { columns: 20, rows: 30 })).toEqual(["› a", "  b", "  c", "  d", "  e▏"]);
  });
});
