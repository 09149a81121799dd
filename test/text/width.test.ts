// How text is measured, cut and padded to columns of a terminal.
import { describe, expect, it } from "vitest";
import { cut, padded, widthOf } from "../../src/text/width.ts";

describe("display width", () => {
  it("the width of text is counted in terminal columns, not characters", () => {
    expect(widthOf("abc")).toBe(3);
    expect(widthOf("漢字")).toBe(4);
    expect(widthOf("🎉")).toBe(2);
    expect(widthOf("e\u0301")).toBe(1);
  });

  it("text is cut and padded by its width", () => {
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
