// Painted text: made in one place, measured and broken as a terminal shows it.
import { describe, expect, it } from "vitest";
import { colourDepth, darknessOf, isDarkBackground } from "../../src/terminal/colours.ts";
import { footerLine } from "../../src/terminal/footer.ts";
import { createPalette, cut, join, padded, plainText, widthOf, wrap } from "../../src/terminal/painted.ts";

const palette = createPalette({ depth: 24, dark: true });

describe("painted text", () => {
  it("painted text is cut and wrapped between visible characters, and each piece keeps its colours", () => {
    const line = join(
      palette.plain("see "),
      palette.accent("the 👨‍👩‍👧 family and 日本語の文章"),
      palette.plain(" e\u0301nd"),
    );
    expect(widthOf(line)).toBe(38);
    for (let width = 2; width < 45; width++) {
      expect(widthOf(cut(line, width))).toBeLessThanOrEqual(width);
      const pieces = wrap(line, width);
      for (const piece of pieces) {
        expect(widthOf(piece)).toBeLessThanOrEqual(width);
        const codes = piece.match(/\x1b\[[0-9;]*m/g) ?? [];
        if (codes.length > 0) expect(codes.at(-1)).toBe("\x1b[0m");
      }
      expect(pieces.map(plainText).join("").replaceAll(" ", "")).toBe(plainText(line).replaceAll(" ", ""));
    }
    expect(wrap(palette.plain("one two three"), 8).map(plainText)).toEqual(["one two", "three"]);
    expect(wrap(palette.plain("one two three"), 8, palette.plain("  ")).map(plainText)).toEqual(["one two", "  three"]);
    expect(wrap(palette.plain("unbreakable"), 4).map(plainText)).toEqual(["unbr", "eaka", "ble"]);
    // No line begins with what ends a phrase, and none ends with what opens one.
    expect(wrap(palette.plain("これは「長い」文です。はい"), 8).map(plainText)).toEqual([
      "これは",
      "「長い」",
      "文です。",
      "はい",
    ]);
    // An address stays in one line, where it may, for the terminal to open.
    const link = palette.plain("see (https://example.com/a/long/path) there");
    expect(wrap(link, 12, palette.plain(""), { addresses: "whole" }).map(plainText)).toEqual([
      "see",
      "(https://example.com/a/long/path)",
      "there",
    ]);
    expect(Math.max(...wrap(link, 12).map(widthOf))).toBe(12);
    expect(padded(palette.bold("日"), 4)).toBe("\x1b[1m日\x1b[0m  ");
  });

  it("the terminal keeps the colours of command output, and no other codes", () => {
    expect(palette.withColours("\x1b[31mred\x1b[0m")).toBe("\x1b[31mred\x1b[0m");
    expect(palette.withColours("\x1b[38;2;1;2;3mx")).toBe("\x1b[38;2;1;2;3mx\x1b[0m");
    expect(palette.withColours("\x1b[38;5;8mx\x1b[m")).toBe("\x1b[38;5;8mx\x1b[m");
    expect(palette.withColours("\x1b[1;5;8;31mx\x1b[8my")).toBe("\x1b[1;31mxy\x1b[0m");
    expect(palette.withColours("\x1b[2Kx\x1b[1A")).toBe("\\u001b[2Kx\\u001b[1A");
    expect(palette.withColours("a\tb")).toBe("a       b");
    expect(createPalette({ depth: 0 }).withColours("\x1b[31mred\x1b[0m")).toBe("red");
  });

  it("the terminal's colours match its abilities", () => {
    expect(createPalette({ depth: 24, dark: true }).bad("x")).toBe("\x1b[38;2;255;138;128mx\x1b[0m");
    expect(createPalette({ depth: 24 }).bad("x")).toBe("\x1b[31mx\x1b[0m"); // the background is not known
    expect(createPalette({ depth: 8, dark: false }).accent("x")).toBe("\x1b[34mx\x1b[0m");
    expect(createPalette({ depth: 0 }).bad("x")).toBe("x");
    expect(createPalette({ depth: 0 }).bold("x")).toBe("\x1b[1mx\x1b[0m");
    expect(createPalette({ depth: "none" }).bold("x")).toBe("x");
  });

  it("a chosen theme has its own colours, whatever the terminal reports", () => {
    const palette = createPalette({ depth: 24, dark: true, theme: "light" });
    expect(palette.bad("x")).toBe("\x1b[38;2;179;38;30mx\x1b[0m");
    palette.setTheme("contrast");
    expect([palette.soft("x"), palette.message("x")]).toEqual(["x", "\x1b[7mx\x1b[0m"]);
    palette.setTheme("auto");
    palette.setDark(false);
    expect(palette.bad("x")).toBe("\x1b[38;2;179;38;30mx\x1b[0m");
    expect(createPalette({ depth: 0, theme: "contrast" }).bad("x")).toBe("x");
  });

  it.each([
    [{ TERM: "xterm-256color", COLORTERM: "truecolor" }, 24],
    [{ TERM: "xterm-256color" }, 8],
    [{ TERM: "xterm" }, 4],
    [{ TERM: "xterm-256color", COLORTERM: "truecolor", NO_COLOR: "1" }, 0],
    [{ TERM: "xterm", NO_COLOR: "" }, 4],
    [{ TERM: "dumb", COLORTERM: "truecolor" }, "none"],
    [{}, "none"],
  ])("a terminal with %j has %s bits of colour", (env, depth) => {
    expect(colourDepth(env)).toBe(depth);
  });

  it("the terminal recognises a light or dark background", () => {
    expect(isDarkBackground({ COLORFGBG: "15;0" })).toBe(true);
    expect(isDarkBackground({ COLORFGBG: "0;default;15" })).toBe(false);
    expect(isDarkBackground({})).toBeUndefined();
    expect(darknessOf("\x1b]11;rgb:1616/1717/1a1a\x1b\\")).toBe(true);
    expect(darknessOf("\x1b]11;rgb:ff/ff/fa\x07")).toBe(false);
    expect(darknessOf("\x1b[?62c")).toBeUndefined();
  });
});

describe("the footer in a narrow window", () => {
  it("the footer drops parts from the right in a narrow window", () => {
    const parts = {
      mode: "agent",
      model: "sonnet-4.5",
      contextUsed: 0.31,
      costUsd: 0.08,
      branch: "main",
      hint: "esc interrupts",
      right: "? keys",
    };
    const at = (columns: number) => plainText(footerLine(parts, palette, columns));
    expect(at(89)).toBe(` agent · sonnet-4.5 · 31 % of context · $0.08 · main · esc interrupts${" ".repeat(12)}? keys`);
    expect(at(73)).toBe(" agent · sonnet-4.5 · 31 % of context · $0.08 · main · esc interrupts");
    expect(at(53)).toBe(" agent · sonnet-4.5 · 31 % of context · $0.08");
    expect(at(14)).toBe(" agent");
    for (let columns = 1; columns < 120; columns++)
      expect(widthOf(footerLine(parts, palette, columns))).toBeLessThanOrEqual(columns);
  });
});
