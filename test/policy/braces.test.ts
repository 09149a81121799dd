import { describe, expect, it } from "vitest";
import { parseShell } from "../../src/policy/parse/shell.ts";

const argumentsOf = (text: string) => parseShell(`ls ${text}`).commands[0]!.args;

describe("brace expansion in commands", () => {
  it.each([
    ["{a,b}", "a b"],
    ["a{b,c}d", "abd acd"],
    ["{a,b}{c,d}", "ac ad bc bd"],
    ["{a,b}c{d,e}f", "acdf acef bcdf bcef"],
    ["a{b,{c,d}e}f", "abf acef adef"],
    ["{a{b,c},d}", "ab ac d"],
    ["}{a,b}", "}a }b"],
    ["{a,b}}", "a} b}"],
    ["{1..2,x}", "1..2 x"],
    ["{1..3}", "1 2 3"],
    ["{3..1}", "3 2 1"],
    ["{1..1}", "1"],
    ["{0..1}", "0 1"],
    ["{-1..1}", "-1 0 1"],
    ["{-9..-11}", "-9 -10 -11"],
    ["x{8080..8082}.log", "x8080.log x8081.log x8082.log"],
    ["{a,{1..2}}", "a 1 2"],
    ["{1..2}{a,b}", "1a 1b 2a 2b"],
  ])("brace expansion turns the command word %s into %s", (text, expected) => {
    expect(argumentsOf(text).map((word) => [word.value, word.dynamic])).toEqual(
      expected.split(" ").map((value) => [value, false]),
    );
  });

  it.each([
    ["{a,}", "a"],
    ["{,a}", "a"],
    ["{,}", ""],
    ["x{,}", "x x"],
    ["{,y}x", "x yx"],
    ["x{a,b}{,c}", "xa xac xb xbc"],
    ["x{{,a},b}", "x xa xb"],
    ["{a,b}{,}", "a a b b"],
  ])("brace expansion of %s drops only words that are empty as a whole: %s", (text, expected) => {
    expect(argumentsOf(text).map((word) => word.value)).toEqual(expected.split(" ").filter(Boolean));
  });

  it("brace expansion marks words that become patterns or start with a tilde", () => {
    expect(argumentsOf("{*.a,b?,c[d],~,e}/{f,g~}").map(({ glob, tilde }) => [glob, tilde])).toEqual([
      [true, false],
      [true, false],
      [true, false],
      [true, false],
      [true, false],
      [true, false],
      [false, true],
      [false, true],
      [false, false],
      [false, false],
    ]);
  });

  /** What bash makes of these is another matter: steps, letters, zeros in front, braces that are not lists, and quotes. */
  it.each([
    "{1..5..2}",
    "{a..c}",
    "{01..3}",
    "{1..03}",
    "{-01..3}",
    "{a,b}{c..d}",
    "{a,{b}}",
    "{x,{1..}}",
    "{{a,b},c}{d",
    "{a,b}$x",
    "{a,$x}",
    '{a,b}"c"',
    "{a,b}'c'",
    "{a,b}\\c",
    "{a,b}$(ls)",
    "{a,b}@(c|d)",
    "{a,b}`ls`",
    "{a,b}~$'c'",
  ])("brace expansion leaves the command word %s as it is", (text) => {
    expect(argumentsOf(text)).toMatchObject([{ text, dynamic: true }]);
  });

  it("brace expansion gives at most 256 words", () => {
    const sixteen = "{1..16}";
    for (const many of ["{1..256}", "{0..-255}", `${sixteen}{1..16}`, `{${sixteen},${"a,".repeat(239)}b}`])
      expect(argumentsOf(many)).toHaveLength(256);
    for (const tooMany of ["{1..257}", "{1..99999999}", `${sixteen}{1..17}`, `{${sixteen},${"a,".repeat(240)}b}`])
      expect(argumentsOf(tooMany)).toMatchObject([{ dynamic: true }]);
  });
});
