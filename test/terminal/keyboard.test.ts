// The keyboard: bytes of terminals of every kind become keys and pastes, wherever they are cut.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Key } from "../../src/terminal/key.ts";
import { createKeyboard } from "../../src/terminal/keyboard.ts";
import { marksPastes } from "../../src/terminal/tty.ts";
import { processorMs } from "../support/processor-time.ts";

function keysOf(...chunks: (string | Uint8Array)[]): string[] {
  const { keys, keyboard } = listen();
  for (const chunk of chunks) keyboard.feed(chunk);
  keyboard.close();
  return keys;
}

function listen(options: Parameters<typeof createKeyboard>[1] = {}) {
  const keys: string[] = [];
  const keyboard = createKeyboard((key) => keys.push(shown(key)), options);
  return { keys, keyboard };
}

function shown(key: Key): string {
  if (key.type === "paste") return `paste ${JSON.stringify(key.text)}`;
  return key.text === undefined || key.text === key.name ? key.name : `${key.name}=${key.text}`;
}

const table: [bytes: string, ...keys: string[]][] = [
  ["a", "a"],
  ["A", "shift+a=A"],
  ["!", "!"],
  [" ", "space= "],
  ["é", "é"],
  ["漢", "漢"],
  ["👩‍👩‍👧", "👩‍👩‍👧"],
  ["e\u0301", "e\u0301"],
  ["\r", "enter"],
  ["\n", "ctrl+j"],
  ["\t", "tab"],
  ["\x7f", "backspace"],
  ["\b", "backspace"],
  ["\x01", "ctrl+a"],
  ["\x03", "ctrl+c"],
  ["\x1a", "ctrl+z"],
  ["\0", "ctrl+space"],
  ["\x1f", "ctrl+_"],
  ["\x1c", "ctrl+\\"],
  ["\x1bb", "alt+b"],
  ["\x1bB", "alt+shift+b"],
  ["\x1b\r", "alt+enter"],
  ["\x1b\x7f", "alt+backspace"],
  ["\x1b\x1b[A", "escape", "up"],
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[1;5C", "ctrl+right"],
  ["\x1b[1;3D", "alt+left"],
  ["\x1b[1;2A", "shift+up"],
  ["\x1b[H", "home"],
  ["\x1b[4~", "end"],
  ["\x1b[3~", "delete"],
  ["\x1b[3;5~", "ctrl+delete"],
  ["\x1b[5~", "pageup"],
  ["\x1b[Z", "shift+tab"],
  ["\x1bOP", "f1"],
  ["\x1b[[A", "f1"],
  ["\x1b[15~", "f5"],
  // xterm's modifyOtherKeys
  ["\x1b[27;2;13~", "shift+enter"],
  ["\x1b[27;5;13~", "ctrl+enter"],
  ["\x1b[27;2;65~", "shift+a=A"],
  ["\x1b[27;5;99~", "ctrl+c"],
  ["\x1b[27;5;106~", "ctrl+j"],
  ["\x1b[27;3;98~", "alt+b"],
  ["\x1b[27;4;66~", "alt+shift+b"],
  ["\x1b[27;3;127~", "alt+backspace"],
  ["\x1b[27;6;95~", "ctrl+shift+_"],
  ["\x1b[27;2;9~", "shift+tab"],
  ["\x1b[27;2;32~", "space= "],
  ["\x1b[27;5;91~", "escape"],
  // kitty
  ["\x1b[97u", "a"],
  ["\x1b[97;5u", "ctrl+a"],
  ["\x1b[97:65;2u", "shift+a=A"],
  ["\x1b[49:33;2u", "!"],
  ["\x1b[13;2u", "shift+enter"],
  ["\x1b[13;3u", "alt+enter"],
  ["\x1b[27u", "escape"],
  ["\x1b[91;5u", "escape"],
  ["\x1b[109;5u", "enter"],
  ["\x1b[9;2u", "shift+tab"],
  ["\x1b[127;3u", "alt+backspace"],
  ["\x1b[122;6u", "ctrl+shift+z"],
  ["\x1b[1089::99;5u", "ctrl+c"], // Ctrl and the key of `c` on a Cyrillic layout
  ["\x1b[97;129u", "a"], // Num Lock is on
  ["\x1b[57414u", "enter"], // of the number pad
  ["\x1b[57400u", "1"],
  ["\x1b[57358u"], // Caps Lock alone
  ["\x1b[97;2;65u", "shift+a=A"], // with the text that it types
  ["\x1b[97;1:3u"], // released
  ["\x1b[1;1:3A"],
  ["\x1b[97;1:2u", "a"], // held down
  // what the terminal says by itself
  ["\x1b]11;rgb:1616/1717/1a1a\x07"],
  ["\x1b]11;rgb:1616/1717/1a1a\x1b\\x", "x"],
  ["\x1b[?62;22c"],
  ["\x1b[>1;10;0c"],
  ["\x1b[12;40R"],
  ["\x1b[0n"],
  ["\x1b[?1u"],
  ["\x1b[?2026;2$y"],
  ["\x1b[I"],
  ["\x1b[O"],
  ["\x1bP>|WezTerm\x1b\\"],
  ["\x1b_Gi=1;OK\x1b\\"],
  ["\x1b[<35;20;5m"],
  ["\x1b[M !!"],
  ["\x85"],
];

describe("keyboard input", () => {
  it.each(table)("the keyboard decoder reads %j", (bytes, ...keys) => expect(keysOf(bytes)).toEqual(keys));

  it("the keyboard decoder reads keys the same byte by byte", () => {
    for (const [bytes, ...keys] of table) {
      if (/[\u0300-\u036f\u200d]/.test(bytes)) continue; // what joins a character arrives after it
      const single = [...Buffer.from(bytes)].map((byte) => Uint8Array.of(byte));
      expect([bytes, ...keysOf(...single)]).toEqual([bytes, ...keys]);
    }
  });

  it("the keyboard decoder splits a burst into its keys in order", () => {
    expect(keysOf("ab\x1b[Ac\x7f\r")).toEqual(["a", "b", "up", "c", "backspace", "enter"]);
    expect(keysOf("\r\r\r")).toEqual(["enter", "enter", "enter"]);
    expect(keysOf("/a\r/b\r\n")).toEqual(["/", "a", "enter", "/", "b", "enter"]);
    expect(keysOf("a\nb")).toEqual(["a", "ctrl+j", "b"]); // a line more, and nothing is sent
  });

  it("the keyboard decoder reads a paste whole, wherever its marks are split", () => {
    const bytes = "x\x1b[200~one\r\ntwo\rthree\x1b[201~\ry";
    const keys = ["x", 'paste "one\\ntwo\\nthree"', "enter", "y"];
    expect(keysOf(...bytes)).toEqual(keys);
    for (let cut = 1; cut < bytes.length; cut++) expect(keysOf(bytes.slice(0, cut), bytes.slice(cut))).toEqual(keys);
    expect(keysOf("\x1b[200~a\nb\x1b[201~\r")).toEqual(['paste "a\\nb"', "enter"]);
  });

  it("the keyboard decoder removes control sequences from a paste", () => {
    expect(keysOf("\x1b[200~\x1b[31mred\x1b[0m\x1b]52;c;eA==\x07 \x07tab\there\x1b[201~")).toEqual([
      'paste "red tab\\there"',
    ]);
  });

  it("multi-line input counts as a paste in terminals that mark no pastes", () => {
    const unmarked = (text: string) => {
      const { keys, keyboard } = listen({ hasMarks: false });
      keyboard.feed(text);
      keyboard.close();
      return keys;
    };
    expect(unmarked("one\rtwo\rthree")).toEqual(['paste "one\\ntwo\\nthree"']);
    expect(unmarked("one\r\ntwo\r\n")).toEqual(['paste "one\\ntwo\\n"']);
    expect(unmarked("one\r")).toEqual(["o", "n", "e", "enter"]);
    expect(unmarked("\x15one\rtwo\x01x\r")).toEqual(["ctrl+u", 'paste "one\\ntwo"', "ctrl+a", "x", "enter"]);
  });

  it("the keyboard decoder knows which terminals mark pastes", () => {
    const marks = (TERM: string, more = {}) => marksPastes({ TERM, WT_SESSION: "1", ...more });
    expect(["xterm-256color", "tmux-256color", "alacritty"].map((name) => marks(name))).toEqual([true, true, true]);
    expect(["linux", "vt220", "screen.xterm-256color"].map((name) => marks(name))).toEqual([false, false, false]);
    expect(marks("screen-256color", { TMUX: "/tmp/tmux-0/default,1,0" })).toBe(true);
  });

  it("the keyboard decoder takes a lone ESC for the Escape key after a short time", async () => {
    const { keys, keyboard } = listen({ escapeMs: 15 });
    keyboard.feed("\x1b");
    expect(keys).toEqual([]);
    await sleep(40);
    expect(keys).toEqual(["escape"]);
    keyboard.feed("\x1b");
    keyboard.feed("[");
    keyboard.feed("A");
    expect(keys).toEqual(["escape", "up"]);
    keyboard.feed("\x1b[");
    await sleep(40);
    expect(keys).toEqual(["escape", "up", "alt+["]);
    keyboard.close();
  });

  it("the keyboard decoder never types a partial terminal reply, however late the rest is", async () => {
    const { keys, keyboard } = listen({ escapeMs: 10 });
    keyboard.feed("\x1b]11;rgb:16");
    await sleep(30);
    keyboard.feed("16/1717/1a1a\x07");
    keyboard.feed(`\x1b]52;c;${"A".repeat(10_000)}`);
    keyboard.feed("A".repeat(10_000));
    keyboard.feed("\x1b");
    keyboard.feed("\\ok");
    expect(keys).toEqual(["o", "k"]);
    keyboard.close();
  });

  it("a reply of the terminal reaches the function that asked for it", () => {
    const answers: string[] = [];
    const { keys, keyboard } = listen({ onAnswer: (answer) => answers.push(answer) });
    keyboard.feed("a\x1b]11;rgb:0/0/0\x07\x1b[?62cb");
    expect([answers, keys]).toEqual([
      ["\x1b]11;rgb:0/0/0\x07", "\x1b[?62c"],
      ["a", "b"],
    ]);
    keyboard.close();
  });

  it("Ctrl+C ends a paste that lost its end", async () => {
    const { keys, keyboard } = listen();
    keyboard.feed("\x1b[200~lost");
    keyboard.feed("\x03"); // part of it: nobody is that fast
    await sleep(550);
    keyboard.feed("\x03");
    expect(keys).toEqual(['paste "lost"', "ctrl+c"]);
    keyboard.close();
  });

  it("a closed keyboard reports no keys, even from a chunk that it was reading", () => {
    const keys: string[] = [];
    const keyboard = createKeyboard((key) => {
      keys.push(shown(key));
      if (keys.length === 2) keyboard.close();
    });
    keyboard.feed("abcd");
    expect(keys).toEqual(["a", "b"]);
  });

  it("reading a paste takes the same time per line, whether it arrives in one write or byte by byte", () => {
    const cost = (lines: number, piece: number): number => {
      const bytes = Buffer.from(`\x1b[200~${`${"x".repeat(49)}\n`.repeat(lines)}\x1b[201~\r`);
      const { keys, keyboard } = listen();
      return processorMs(() => {
        for (let at = 0; at < bytes.length; at += piece) keyboard.feed(bytes.subarray(at, at + piece));
        expect([keys.length, keys[1]]).toEqual([2, "enter"]);
      });
    };
    cost(1000, 1);
    const small = Math.max(5, Math.min(cost(1000, 1), cost(1000, 1)));
    expect(cost(10_000, 1) / small).toBeLessThan(40);
    expect(cost(10_000, 1 << 20)).toBeLessThan(300);
  });
});
