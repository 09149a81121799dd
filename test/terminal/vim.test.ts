// Vim: a table of what the real one does, and random keys that must never break the text.
import { describe, expect, it } from "vitest";
import { graphemeBoundary } from "../../src/terminal/editor/graphemes.ts";
import { random } from "../protocol/random.ts";
import { typeVim, type VimState, vimOn } from "./vim-kit.ts";
import { vimRows } from "./vim-rows.ts";

function marked({ buffer: { text, cursor } }: VimState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

function started(text: string): VimState {
  return vimOn(text.replace("|", ""), text.indexOf("|"));
}

describe("vim motions", () => {
  it.each(vimRows)("the editor's vim mode on the text %j with the keys %j", (text, keys, expected) => {
    expect(marked(typeVim(started(text), `${keys}\x1b\x1b`))).toBe(expected);
  });

  it("vim commands with a count count visible characters", () => {
    expect(marked(typeVim(started("|e\u0301👩‍👩‍👧漢字 x"), "x"))).toBe("|👩‍👩‍👧漢字 x");
    expect(marked(typeVim(started("e\u0301👩‍👩‍👧|漢字 x"), "X"))).toBe("e\u0301|漢字 x");
    expect(marked(typeVim(started("|漢字かな x"), "dw"))).toBe("|かな x");
    expect(marked(typeVim(started("|👩‍👩‍👧b"), "rx"))).toBe("|xb");
  });

  it("an incomplete vim command waits for the rest, and Escape drops it", () => {
    const waiting = typeVim(started("|one two three"), "2d");
    expect(waiting.vim.keys).toEqual(["2", "d"]);
    expect(marked(typeVim(waiting, "\x1bx"))).toBe("|ne two three");
    expect(marked(typeVim(waiting, "w"))).toBe("|three");
    expect(marked(typeVim(started("|one two"), "dzx"))).toBe("|ne two");
  });

  it("random vim keys keep the cursor between characters, and undo leads back", () => {
    const { below, pick } = random(7);
    const keys = [..."hjklwbeWBE0^$GfFtT;,{}%dcy><xXDsSCiIaAoOrR~JpPu.vVg123\"'(iwap \x1b\x1b\x12\x7f漢é"];
    const texts = ["", 'one two\n\n  three (a, b) "c"', "漢字 かな e\u0301 👩‍👩‍👧\n🇩🇪🇫🇷 x\n"];
    for (let round = 0; round < 150; round++) {
      const text = pick(texts);
      let state = vimOn(text, 0);
      let typed = "";
      for (let count = 0; count < 60; count++) {
        const key = keys[below(keys.length)]!;
        typed += key;
        state = typeVim(state, key);
        const { cursor, text: now } = state.buffer;
        expect([typed, cursor]).toEqual([typed, graphemeBoundary(now, cursor)]);
        if (state.vim.mode === "normal" && now[cursor] === "\n" && cursor > 0)
          expect([typed, now[cursor - 1]]).toEqual([typed, "\n"]);
      }
      const back = typeVim(state, `\x1b\x1b${"u".repeat(70)}`);
      expect([typed, back.buffer.text]).toEqual([typed, text]);
    }
  });
});
