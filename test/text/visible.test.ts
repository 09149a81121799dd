// Text of strangers, made visible; widths of what is seen.
import { describe, expect, it } from "vitest";
import { visible, withoutTerminalCodes } from "../../src/text/visible.ts";
import { cut, cutMiddle, widthOf } from "../../src/text/width.ts";

describe("visible text", () => {
  it.each([
    ["a\u001b[2Jb", "a\\u001b[2Jb"],
    ["a\u009b2Jb", "a\\u009b2Jb"],
    ["a\rb\u0008c\u0007", "a\\u000db\\u0008c\\u0007"],
    ["pay\u202elosnoc", "pay\\u202elosnoc"],
    ["a\u200bb\u2060c\ufeffd\u00ade", "a\\u200bb\\u2060c\\ufeffd\\u00ade"],
    ["x\u{e0041}\u{e0042}", "x\\u{e0041}\\u{e0042}"],
    ["a\u200db", "a\\u200db"],
    ["a\ufe0f\u{e0100}", "a\\ufe0f\\u{e0100}"],
    ["one\u2028two", "one\\u2028two"],
    ["\ud800", "\\ud800"],
    ["\u3164\u115f", "\\u3164\\u115f"],
  ])("the invisible character %j is spelled out", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each([
    "one\ttwo\nthree",
    "👨‍👩‍👧 ❤️ 1️⃣ 👍🏽",
    "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "می‌خواهم",
    "क्‍ष",
    "葛\u{e0100}",
    "e\u0301",
  ])("the text %j is left unchanged", (text) => {
    expect(visible(text)).toBe(text);
  });

  it("colours and other decorative terminal codes are removed from text", () => {
    expect(withoutTerminalCodes("\u001b[31mred\u001b[0m\r\n\u001b]8;;x\u0007link\u001b]8;;\u0007")).toBe("red\nlink");
  });
});

describe("widths of text", () => {
  it.each([
    ["abc", 3],
    ["日本", 4],
    ["e\u0301", 1],
    ["👨‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["→ …·", 4],
  ])("the width of %s is %i", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it("cutting text keeps visible characters whole", () => {
    expect(cut("ab👨‍👩‍👧cd", 4)).toBe("ab…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(cutMiddle("src/some/very/long/path/to/file.ts", 20)).toBe("src/so…th/to/file.ts");
  });
});
