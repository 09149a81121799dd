// Choosing from a list: what keys do to the state, and how text is cut to a terminal's width. On a real terminal: sessions.test.ts.
import { describe, expect, it } from "vitest";
import { keysIn, matching, type PickerState, press } from "../../src/cli/picker.ts";
import { cut, padded, widthOf } from "../../src/text/width.ts";

const start: PickerState = { filter: "", selected: 0, first: 0 };
const up = "\x1b[A";
const down = "\x1b[B";

function pressed(keys: readonly string[], { left = 10, height = 3 } = {}): PickerState {
  return keys.reduce((state, key) => press(state, key, left, height), start);
}

describe("keys", () => {
  it("move within the list, and the list moves with them", () => {
    expect(pressed([down, down])).toEqual({ filter: "", selected: 2, first: 0 });
    expect(pressed([down, down, down])).toEqual({ filter: "", selected: 3, first: 1 });
    expect(pressed([down, down, down, up, up, up])).toEqual({ filter: "", selected: 0, first: 0 });
    expect(pressed([up])).toEqual(start);
    expect(pressed(["\x1b[F"])).toEqual({ filter: "", selected: 9, first: 7 });
    expect(pressed(["\x1b[F", down])).toMatchObject({ selected: 9 });
    expect(pressed(["\x1b[F", "\x1b[H"])).toEqual(start);
    expect(pressed(["\x1b[6~"])).toMatchObject({ selected: 3 });
    expect(pressed(["\x1b[6~", "\x1b[5~"])).toMatchObject({ selected: 0, first: 0 });
    expect(pressed([down], { left: 0 })).toMatchObject({ selected: 0, first: 0 });
  });

  it("write and take back the filter; every change goes to the top", () => {
    expect(pressed([down, "a", "b", "c", "\x7f"])).toEqual({ filter: "ab", selected: 0, first: 0 });
    expect(pressed(["é", "🎉", "\x7f"]).filter).toBe("é");
    expect(pressed([..."one two", "\x17"]).filter).toBe("one ");
    expect(pressed([..."one two", "\x15"]).filter).toBe("");
    expect(pressed(["\x01", "\x00", "\x1b[Z", "\x1a"])).toEqual(start);
  });

  it("come in bursts, and stay whole in them", () => {
    expect(keysIn("\x1b[B\x1bOAab\r")).toEqual(["\x1b[B", "\x1bOA", "a", "b", "\r"]);
    expect(keysIn("\x1b[200~pasted\x1b[201~")).toEqual([..."pasted"]);
    expect(keysIn("é🎉")).toEqual(["é", "🎉"]);
    expect(keysIn("\x1b")).toEqual(["\x1b"]);
  });
});

describe("the filter", () => {
  const choices = ["Fix the Parser", "Write docs", "fix docs"].map((words) => ({ text: words, words }));

  it("keeps what has all its words, in any order and case", () => {
    expect(matching(choices, "")).toEqual([0, 1, 2]);
    expect(matching(choices, "FIX")).toEqual([0, 2]);
    expect(matching(choices, " docs  fix ")).toEqual([2]);
    expect(matching(choices, "nothing")).toEqual([]);
  });
});

describe("width", () => {
  it("counts columns, not characters", () => {
    expect(widthOf("abc")).toBe(3);
    expect(widthOf("漢字")).toBe(4);
    expect(widthOf("🎉")).toBe(2);
    expect(widthOf("e\u0301")).toBe(1);
  });

  it("is what a text is cut and padded to", () => {
    expect(cut("abcdef", 6)).toBe("abcdef");
    expect(cut("abcdef", 5)).toBe("abcd…");
    expect(cut("漢字漢字", 5)).toBe("漢字…");
    expect(cut("漢字漢字", 4)).toBe("漢…");
    expect(cut("abc", 0)).toBe("");
    expect(padded("漢", 4)).toBe("漢  ");
    for (const text of ["hello world", "漢字漢字漢字", "🎉🎉🎉", "a漢b字c"])
      for (let width = 0; width < 14; width++) expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width);
  });
});
