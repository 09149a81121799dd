// The editor as its user meets it: keys in, text and view out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createEditor, type EditorOptions } from "../../src/terminal/editor/editor.ts";
import { graphemeBoundary } from "../../src/terminal/editor/graphemes.ts";
import { createHistory } from "../../src/terminal/editor/history.ts";
import { keyHelp, keyLabel } from "../../src/terminal/keymap.ts";
import { widthOf } from "../../src/text/width.ts";
import { random } from "../protocol/random.ts";
import { processorMs } from "../support/processor-time.ts";
import { keyOf, paste, press, shownLines, testPalette } from "./editor-kit.ts";

const screen = { columns: 40, rows: 24 };

function editorWith(options: Partial<EditorOptions> = {}) {
  return createEditor({ palette: testPalette, ...options });
}

/** Keys, then the text with the cursor in it. */
function after(keys: string, start = ""): string {
  const editor = editorWith();
  editor.setText(start);
  press(editor, keys);
  return shownLines(editor, { columns: 80, rows: 60 })
    .map((line) => line.slice(2))
    .join("\n");
}

describe("editor keys", () => {
  const rows: [keys: string, start: string, expected: string][] = [
    ["a b c", "", "abc▏"],
    ["left left x", "abc", "ax▏bc"],
    ["ctrl+a x", "one\ntwo", "one\nx▏two"],
    ["home x ctrl+e y", "abc", "xabcy▏"],
    ["alt+b x", "one two", "one x▏two"],
    ["alt+b alt+b alt+f x", "one two", "onex▏ two"],
    ["ctrl+left x", "src/file.ts", "src/file.x▏ts"],
    ["ctrl+home x", "a\nb", "x▏a\nb"],
    ["ctrl+home ctrl+end x", "a\nb", "a\nbx▏"],
    ["up x", "abc\nd", "ax▏bc\nd"],
    ["up up", "abc\ndef", "abc▏\ndef"],
    ["up left down x", "abcd\nef", "abcd\nex▏f"],
    ["ctrl+p ctrl+n x", "ab\ncd", "ab\ncdx▏"],
    ["backspace", "abc", "ab▏"],
    ["ctrl+a delete", "abc", "▏bc"],
    ["ctrl+a ctrl+d", "abc", "▏bc"],
    ["ctrl+w", "one two.three", "one ▏"],
    ["alt+backspace", "one two.three", "one two.▏"],
    ["ctrl+a alt+d", "one two", "▏ two"],
    ["ctrl+a ctrl+k", "one two", "▏"],
    ["up ctrl+e ctrl+k", "one\ntwo", "one▏two"],
    ["ctrl+u", "one two", "▏"],
    ["ctrl+w ctrl+w ctrl+y", "one two", "one two▏"],
    ["ctrl+w left ctrl+w ctrl+y alt+y", "one two", "two▏"],
    ["ctrl+k ctrl+y", "abc", "abc▏"],
    ["x y ctrl+_", "", "▏"],
    ["x space y ctrl+_", "", "x ▏"],
    ["x space y ctrl+_ ctrl+_ alt+_", "", "x ▏"],
    ["backspace backspace ctrl+_", "abc", "abc▏"],
    ["shift+left shift+left x", "abcd", "abx▏"],
    ["shift+home backspace", "one\ntwo", "one\n▏"],
    ["shift+up ctrl+w ctrl+y", "ab\ncd", "ab\ncd▏"],
    ["shift+left left x", "abc", "abx▏c"],
    ["x shift+enter y", "", "x\ny▏"],
    ["x ctrl+j y alt+enter z", "", "x\ny\nz▏"],
    ["x \\ enter y", "", "x\ny▏"],
  ];
  it.each(rows)("the editor's keys %s on the text %j", (keys, start, expected) =>
    expect(after(keys, start)).toBe(expected),
  );

  it("the editor's keys move and delete by visible characters", () => {
    const editor = editorWith();
    editor.setText("e\u0301👩‍👩‍👧🇩🇪");
    press(editor, "left backspace");
    expect(editor.text()).toBe("e\u0301🇩🇪");
    press(editor, "home delete");
    expect(editor.text()).toBe("🇩🇪");
  });

  it("Enter sends the text in the editor and clears it", () => {
    const editor = editorWith();
    expect(press(editor, "hello enter")).toEqual({ type: "submit", text: "hello", images: [], shell: false });
    expect(editor.isEmpty()).toBe(true);
    expect(press(editor, "enter")).toEqual({ type: "unhandled" });
  });

  it("the editor leaves unhandled keys to the app", () => {
    const editor = editorWith();
    const app =
      "ctrl+c escape ctrl+o ctrl+r ctrl+g ctrl+l ctrl+z shift+tab ctrl+v pageup f1 ctrl+d ctrl+b ctrl+y tab ?";
    for (const name of app.split(" ")) expect([name, editor.press(keyOf(name)).type]).toEqual([name, "unhandled"]);
    press(editor, "hi");
    for (const name of "ctrl+c escape ctrl+o ctrl+r ctrl+g ctrl+l ctrl+z shift+tab ctrl+v tab".split(" "))
      expect([name, editor.press(keyOf(name)).type]).toEqual([name, "unhandled"]);
    expect(press(editor, "ctrl+d ctrl+b ?")).toEqual({ type: "handled" });
    expect(editor.text()).toBe("h?i");
  });

  it("a text cleared in the editor can be restored", () => {
    const editor = editorWith();
    press(editor, "hello");
    editor.clear();
    expect(editor.isEmpty()).toBe(true);
    press(editor, "ctrl+_");
    expect(editor.text()).toBe("hello");
  });

  it("every key of the editor is explained once in the help", () => {
    const help = keyHelp().flatMap(({ rows: lines }) => lines);
    expect(help.length).toBeGreaterThan(30);
    expect(new Set(help.map((row) => row.help)).size).toBe(help.length);
    const page = readFileSync(join(import.meta.dirname, "../../docs/terminal.md"), "utf8");
    for (const row of help) {
      const keys = row.keys.split("  ").map((key) => `\`${key}\``);
      expect(page).toContain(`| ${keys.join(" ")} | ${row.help} |`);
    }
    expect([keyLabel("ctrl+o"), keyLabel("shift+enter"), keyLabel("?")]).toEqual(["Ctrl+O", "Shift+Enter", "?"]);
  });
});

describe("editor display", () => {
  it("the editor wraps between words, keeps the cursor visible, and grows to a third of the screen", () => {
    const editor = editorWith();
    editor.setText("the quick brown fox jumps over the lazy dog");
    expect(shownLines(editor, { columns: 23, rows: 24 })).toEqual([
      "› the quick brown fox",
      "  jumps over the lazy",
      "  dog▏",
    ]);
    editor.setText(Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n"));
    expect(shownLines(editor, { columns: 23, rows: 12 })).toEqual([
      "  line 26",
      "  line 27",
      "  line 28",
      "  line 29▏",
    ]);
    press(editor, "up up up up");
    expect(shownLines(editor, { columns: 23, rows: 12 })).toEqual([
      "  line 25▏",
      "  line 26",
      "  line 27",
      "  line 28",
    ]);
    press(editor, "ctrl+home");
    expect(shownLines(editor, { columns: 23, rows: 12 })[0]).toBe("› ▏line 0");
  });

  it("the editor's keys move by screen rows inside a long line", () => {
    const editor = editorWith();
    editor.setText("the quick brown fox jumps");
    editor.view({ columns: 13, rows: 24 });
    press(editor, "up x");
    expect(shownLines(editor, { columns: 13, rows: 24 })).toEqual(["› the quick", "  brownx▏ fox", "  jumps"]);
  });

  it("the editor draws no line too wide, and keeps the cursor on the screen", () => {
    const editor = editorWith({ placeholder: "ask, or @file, or /command", vim: true });
    const texts = ["", "word ".repeat(20), "漢字かな".repeat(10), "x".repeat(100), "a\tb\t\tc", "👩‍👩‍👧".repeat(9)];
    for (const text of texts) {
      for (const columns of [2, 3, 4, 7, 8, 20, 41]) {
        editor.setText(text);
        paste(editor, "y\n".repeat(300));
        for (const key of ["", "ctrl+home", "end", "left"]) {
          if (key) press(editor, key);
          const { lines, cursor } = editor.view({ columns, rows: 9 });
          expect(lines.length).toBeLessThanOrEqual(9);
          const widest = Math.max(...lines.map(widthOf));
          expect([columns, text, widest]).toEqual([columns, text, columns < 8 ? widest : Math.min(widest, columns)]);
          expect(cursor!.column).toBeLessThan(Math.max(1, columns));
          expect(cursor!.row).toBeLessThan(lines.length);
        }
      }
    }
  });

  it("the editor shows placeholder, markers and vim mode", () => {
    const editor = editorWith({ placeholder: "ask", vim: true });
    expect(shownLines(editor, { columns: 30, rows: 24 })).toEqual(["› ▏ask                  insert"]);
    press(editor, "! l s escape 2 d");
    expect(shownLines(editor, { columns: 30, rows: 24 })).toEqual(["! l▏s                normal 2d"]);
    press(editor, "escape V");
    expect(shownLines(editor, screen)[0]).toContain("[▏ls]");
  });
});

describe("vim mode in the editor", () => {
  it("in the editor's vim mode Escape switches to normal mode, and there goes to the app", () => {
    const editor = editorWith({ vim: true });
    press(editor, "one space two");
    expect([press(editor, "escape").type, editor.vim()]).toEqual(["handled", { mode: "normal" }]);
    expect(press(editor, "escape").type).toBe("unhandled");
    press(editor, "b d w");
    expect(editor.text()).toBe("one ");
    press(editor, "u");
    expect(editor.text()).toBe("one two");
    expect(press(editor, "ctrl+r").type).toBe("handled"); // redo
    expect([editor.text(), press(editor, "ctrl+r").type]).toEqual(["one ", "unhandled"]); // review
    paste(editor, "xy");
    expect(shownLines(editor, screen)[0]).toMatch(/^› onexy▏ /);
    expect(press(editor, "enter").type).toBe("submit");
    expect(editor.vim()).toEqual({ mode: "insert" });
  });

  it("undo in the editor reverts a whole insertion, including deletions", () => {
    const editor = editorWith({ vim: true });
    press(editor, "a escape A b c backspace d space e ctrl+w f escape u");
    expect(editor.text()).toBe("a");
  });

  it("in vim mode j and k walk the prompt history at the edges of the text", () => {
    const history = createHistory({ redact: (text) => text });
    const editor = editorWith({ vim: true, history });
    press(editor, "first enter second enter");
    press(editor, "escape k k");
    expect(editor.text()).toBe("first");
    press(editor, "j j");
    expect(editor.text()).toBe("");
    press(editor, "i a shift+enter b escape k x");
    expect(editor.text()).toBe("\nb");
  });
});

describe("pastes in the editor", () => {
  it("the editor folds a long paste into one character, and sends it whole", () => {
    const editor = editorWith();
    const long = Array.from({ length: 240 }, (_, index) => `line ${index}`).join("\n");
    press(editor, "see:");
    paste(editor, long);
    press(editor, "!");
    expect(shownLines(editor, screen)).toEqual(["› see:[Pasted 240 lines #1]!▏"]);
    press(editor, "left left x");
    expect(shownLines(editor, screen)).toEqual(["› see:x▏[Pasted 240 lines #1]!"]);
    expect(editor.text()).toBe(`see:x${long}!`);
    press(editor, "delete");
    expect(editor.text()).toBe("see:x!");
    press(editor, "ctrl+_");
    expect(press(editor, "enter")).toMatchObject({ text: `see:x${long}!` });
  });

  it("the editor leaves short pastes as they are, without their final newline", () => {
    const editor = editorWith();
    expect(paste(editor, "one\ntwo\n")).toEqual({ type: "handled" });
    expect(editor.text()).toBe("one\ntwo\n");
    paste(editor, "y".repeat(1001));
    expect(shownLines(editor, screen).at(-1)).toBe("  [Pasted 1001 characters #1]▏");
  });

  it("the editor does not take typed text for a folded paste", () => {
    const editor = editorWith();
    paste(editor, "z\n".repeat(50));
    press(editor, "[Pasted space 51 space lines space #1]");
    expect(editor.text()).toBe(`${"z\n".repeat(50)}[Pasted 51 lines #1]`);
    const other = editorWith();
    paste(other, "w\n".repeat(50));
    paste(other, "\u{10f001}\u{10f002}");
    expect(other.text()).toBe(`${"w\n".repeat(50)}\u{10f001}\u{10f002}`);
    other.setText("\u{10f001}");
    expect(other.text()).toBe("\u{10f001}");
    for (const character of "\u{10f001}") other.press({ type: "key", name: character, text: character });
    expect(other.text()).toBe("\u{10f001}\u{10f001}");
  });

  it("pasted images appear in the editor's text and are sent", () => {
    const editor = editorWith();
    press(editor, "look:");
    editor.insertImage({ mime: "image/png", base64: "AA==" });
    expect(press(editor, "enter")).toEqual({
      type: "submit",
      text: "look:[Image 1]",
      images: [{ mime: "image/png", base64: "AA==" }],
      shell: false,
    });
  });

  it("folded pastes and images survive an external editor", () => {
    const editor = editorWith();
    paste(editor, "p\n".repeat(30));
    editor.insertImage({ mime: "image/png", base64: "AA==" });
    press(editor, "see");
    const before = shownLines(editor, screen);
    editor.setEdited(editor.text());
    expect(shownLines(editor, screen)).toEqual(before);
    editor.setEdited(`First: ${editor.text()}!`);
    expect(shownLines(editor, { columns: 80, rows: 24 })).toEqual(["› First: [Pasted 30 lines #1][Image 1]see!▏"]);
    expect(press(editor, "enter")).toMatchObject({
      text: `First: ${"p\n".repeat(30)}[Image 1]see!`,
      images: [{ mime: "image/png", base64: "AA==" }],
    });
  });

  it("100,000 lines pasted into the editor cost as much per line as 10,000", () => {
    const cost = (lines: number): number => {
      const editor = editorWith();
      const text = Buffer.alloc(61 * lines, `${"x".repeat(60)}\n`).toString();
      return processorMs(() => {
        for (let count = 0; count < 5; count++) paste(editor, text);
        editor.view(screen);
        expect(editor.text().length).toBe(5 * text.length);
      });
    };
    cost(10_000);
    const small = Math.max(1, Math.min(cost(10_000), cost(10_000), cost(10_000)));
    expect(Math.min(cost(100_000), cost(100_000)) / small).toBeLessThan(40);

    const editor = editorWith();
    editor.setText(`${"some words of text ".repeat(3)}\n`.repeat(1000));
    const spent = processorMs(() => {
      for (let count = 0; count < 150; count++) {
        press(editor, ["x", "up", "backspace"][count % 3]!);
        editor.view(screen);
      }
    });
    expect(spent / 150).toBeLessThan(5); // about 0.5 for a key and its view
  });
});

describe("shell mode of the editor", () => {
  it("! in an empty editor starts shell mode; Escape, Backspace and Ctrl+C leave it", () => {
    for (const key of ["escape", "backspace", "ctrl+c"]) {
      const editor = editorWith();
      press(editor, "!");
      expect([editor.isShell(), editor.text()]).toEqual([true, ""]);
      expect(shownLines(editor, screen)).toEqual(["! ▏A shell command; Esc leaves"]);
      expect(press(editor, key)).toEqual({ type: "handled" });
      expect(editor.isShell()).toBe(false);
    }
    const editor = editorWith();
    expect(press(editor, "! l s ! enter")).toEqual({ type: "submit", text: "ls!", images: [], shell: true });
    expect(editor.isShell()).toBe(false);
  });
});

describe("prompt history in the editor", () => {
  const sent = (...texts: string[]) => {
    const history = createHistory({ redact: (text) => text });
    const editor = editorWith({ history });
    for (const text of texts) {
      editor.setText(text);
      press(editor, "enter");
    }
    return editor;
  };

  it("arrow keys at the edges of the editor's text walk the history, back to the draft", () => {
    const editor = sent("first", "second\nwith two lines", "third");
    press(editor, "draft");
    press(editor, "home up");
    expect(editor.text()).toBe("third");
    press(editor, "up");
    expect(editor.text()).toBe("second\nwith two lines");
    press(editor, "up");
    expect(editor.text()).toBe("first");
    press(editor, "up");
    expect(editor.text()).toBe("first");
    press(editor, "down down down");
    expect(editor.text()).toBe("draft");
    expect(press(editor, "down")).toEqual({ type: "unhandled" });
  });

  it("the prompt history offers entries that begin like the text before the cursor", () => {
    const editor = sent("fix the test", "explain this", "fix the build");
    press(editor, "fix up");
    expect(editor.text()).toBe("fix the build");
    press(editor, "up");
    expect(editor.text()).toBe("fix the test");
    press(editor, "down down");
    expect(editor.text()).toBe("fix");
  });

  it("arrows move the editor's cursor again once a history entry is edited", () => {
    const editor = sent("one", "a\nb");
    press(editor, "up left x up y");
    expect(editor.text()).toBe("ay\nxb");
  });

  it("Ctrl+S searches forward in the prompt history", () => {
    const editor = sent("fix the test", "explain this", "fix the build");
    press(editor, "draft ctrl+s");
    expect(shownLines(editor, screen)[0]).toBe("search: ▏");
    press(editor, "fix space te");
    expect(shownLines(editor, screen)).toEqual(["search: fix te▏", "› fix the test"]);
    press(editor, "enter");
    expect(editor.text()).toBe("fix the test");
    press(editor, "ctrl+s down enter");
    expect(editor.text()).toBe("explain this");
    press(editor, "ctrl+s zzz");
    expect(shownLines(editor, screen)[1]).toContain("no earlier message");
    press(editor, "escape");
    expect(editor.text()).toBe("explain this");
  });

  it("the prompt history remembers shell mode and folded pastes", () => {
    const history = createHistory({ redact: (text) => text });
    const editor = editorWith({ history });
    press(editor, "! ls enter");
    paste(editor, "p\n".repeat(20));
    press(editor, "enter up");
    expect(shownLines(editor, screen)).toEqual(["› [Pasted 20 lines #2]▏"]);
    expect(editor.text()).toBe("p\n".repeat(20));
    press(editor, "up");
    expect([editor.text(), editor.isShell()]).toEqual(["ls", true]);
    press(editor, "down down");
    expect([editor.text(), editor.isShell()]).toEqual(["", false]);
  });
});

describe("random keys in the editor", () => {
  it("random keys in the editor never throw, and undo leads back to the beginning", () => {
    const { below, pick } = random(11);
    const names =
      "a b space 漢 é 👩‍👩‍👧 @ / ! ? \\ enter shift+enter tab escape up down left right home end backspace delete ctrl+a ctrl+e ctrl+b ctrl+f ctrl+k ctrl+u ctrl+w ctrl+y alt+y alt+b alt+f alt+d alt+backspace ctrl+_ alt+_ ctrl+s ctrl+home ctrl+end shift+left shift+up shift+right shift+end ctrl+d".split(
        " ",
      );
    for (const vim of [false, true]) {
      for (let round = 0; round < 20; round++) {
        const history = createHistory({ redact: (text) => text });
        const complete = {
          commands: () => [{ name: "/help", description: "help" }],
          files: async () => ["a/b.ts", "c d.md"],
        };
        const editor = editorWith({ vim, history, complete });
        for (let count = 0; count < 80; count++) {
          const name = pick(names);
          if (below(25) === 0) paste(editor, pick(["x\ny", "long\n".repeat(20), "🇩🇪", "\u0301"]));
          else editor.press(keyOf(name));
          const size = { columns: 1 + below(60), rows: 3 + below(30) };
          const { cursor, lines } = editor.view(size);
          expect(cursor!.row).toBeLessThan(lines.length);
          const { text } = editor.draft();
          expect(graphemeBoundary(text, text.length)).toBe(text.length);
        }
        editor.press(keyOf("escape"));
        editor.setVim(false);
        for (let count = 0; count < 100; count++) editor.press(keyOf("ctrl+_"));
        expect(editor.text()).toBe("");
      }
    }
  });
});
