import { describe, expect, it } from "vitest";
import { compilePath, expandBraces, foldText, hasWildcard, matchesText, patternsMeet } from "../../src/text/glob.ts";

describe("globs", () => {
  it.each([
    ["/w/**", "/w/a/b", true],
    ["/w/**", "/w", true],
    ["/w/*.ts", "/w/a.ts", true],
    ["/w/*.ts", "/w/a/b.ts", false],
    ["/w/**/*.key", "/w/a/b/c.key", true],
    ["/w/**/*.key", "/w/c.key", true],
    ["/w/a?c", "/w/abc", true],
    ["/w/a?c", "/w/a/c", false],
    ["/w/*.{ts,tsx}", "/w/a.tsx", true],
    ["/w/[id]/x", "/w/[id]/x", true],
    ["/w/[id]/x", "/w/i/x", false],
    ["/w/**/a/**/b", "/w/a/x/a/y/b", true],
    ["/w/a**b/c", "/w/axxb/c", true],
    ["/w/a**b/c", "/w/a/b/c", false],
    ["/w/**", "/v/a", false],
    ["/w/a?c", "/w/ac", false],
    ["/w/a?c", "/w/abbc", false],
    ["/w/a", "/w/a/b", false],
    ["/w/a/b", "/w/a", false],
    ["/w/{a,b/c}", "/w/b/c", true],
    ["/w/{a,b}{1,2}", "/w/b1", true],
    ["/w/{a,b}{1,2}", "/w/ab", false],
    ["/w/{a}", "/w/{a}", true],
  ])("whether the glob %s matches %s: %s", (pattern, path, expected) => {
    expect(compilePath(pattern)(path)).toBe(expected);
  });

  it.each([
    ["a", "ba", false],
    ["a", "ab", false],
    ["*ab", "aab", true],
    ["*ab", "axb", false],
    ["*ab", "xb", false],
    ["ab*bc", "abc", false],
    ["ab*bc", "abbc", true],
    ["*a*b*", "xxaxxbxx", true],
    ["*a*b*", "xxbxxaxx", false],
    ["**", "", true],
    ["?", "", false],
    ["?", "\u{1f600}", true],
    ["{a,b}", "b", true],
    ["*a?c*", "xxabcxx", true],
    ["*a?c*", "xxabdxx", false],
    ["*?\u{1f600}*b", "a\u{1f600}xb", true],
    ["*\u{1f600}?", "x\u{1f600}\u{1f600}", true],
    ["*???", "ab", false],
    [`*${"?a".repeat(40)}b*`, `${"xa".repeat(60)}bc`, true],
    [`*${"?a".repeat(40)}c*`, `${"xa".repeat(60)}bc`, false],
    ["{x,{a,b}}c", "bc", true],
    ["{,", "{,", true],
  ])("the pattern %s matches the text %s: %s", (pattern, text, expected) => {
    expect(matchesText(pattern, text)).toBe(expected);
  });

  it.each([
    ["[ab]", "a", true],
    ["[ab]", "b", true],
    ["[ab]", "c", false],
    ["[ab]", "[", false],
    ["[abd]", "c", false],
    ["[a-c]", "a", true],
    ["[a-c]", "b", true],
    ["[a-c]", "c", true],
    ["[b-c]", "a", false],
    ["[a-c]", "d", false],
    ["[a-c]", "-", false],
    ["[a-ce]", "e", true],
    ["[a-ceg]", "f", false],
    ["[a-]", "-", true],
    ["[-a]", "-", true],
    ["[!a]", "b", true],
    ["[!a]", "a", false],
    ["[^a-c]", "d", true],
    ["[^a-c]", "b", false],
    ["[]a]", "]", true],
    ["[]", "[]", true],
    ["[!]", "[!]", true],
    ["[ab", "[ab", true],
    ["x[ab]y*", "xbyz", true],
  ])("the glob %s with brackets matches %s: %s", (pattern, text, expected) => {
    expect(compilePath(pattern, { brackets: true })(text)).toBe(expected);
    expect(compilePath(pattern)(text)).toBe(pattern === text);
  });

  it.each([
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["a\\?b", "a?b", true],
    ["a\\?b", "axb", false],
    ["\\a*", "abc", true],
    ["a\\", "a\\", true],
    ["a\\", "a", false],
    ["\\[ab]", "[ab]", true],
    ["\\[ab]", "a", false],
  ])("the glob %s with escapes matches %s: %s", (pattern, text, expected) => {
    expect(compilePath(pattern, { brackets: true, escapes: true })(text)).toBe(expected);
  });

  it.each([
    ["[[:alpha]x", "ax", true],
    ["[[:alpha:]]x", "ax", true],
    ["[[:alpha:]]x", "1x", false],
    ["[[:nothing:]]x", "ax", false],
    ["[[:alpha:]1]x", "1x", true],
    ["[![:alpha:]]x", "1x", true],
    ["[![:alpha:]]x", "ax", false],
  ])("the bracket glob %s on %s: %s", (pattern, text, expected) => {
    expect(compilePath(pattern, { brackets: true, escapes: true })(text)).toBe(expected);
  });

  it("a backslash in a glob is literal where nothing is escaped", () => {
    expect(compilePath("a\\*")("a\\b")).toBe(true);
    expect(compilePath("\\*", { brackets: true })("*")).toBe(false);
  });

  it.each([
    ["a", false],
    ["a*", true],
    ["a?", true],
    ["{a,b}", true],
    ["{a}", false],
    ["a,b", false],
    ["[ab]", false],
  ])("the glob %s has a wildcard: %s", (pattern, expected) => {
    expect(hasWildcard(pattern)).toBe(expected);
  });

  it("a pattern with too many alternatives is not expanded", () => {
    const choices = (count: number) => `{${Array.from({ length: count }, (_, index) => index).join(",")}}`;
    expect(expandBraces(choices(256))).toHaveLength(256);
    expect(expandBraces(choices(257))).toBeUndefined();
    expect(expandBraces("{a,b}".repeat(8))).toHaveLength(256);
    expect(expandBraces("{a,b}".repeat(30))).toBeUndefined();
    expect(matchesText(choices(257), "7")).toBe(false);
    expect(matchesText(choices(257), choices(257))).toBe(true);
  });

  it("name comparison ignores case, width and invisible characters", () => {
    expect(foldText(".cUr\u200bsor")).toBe(".cursor");
    expect(foldText("\uff52\uff4d")).toBe("rm");
    expect(compilePath("/w/*.key", { fold: true })("/w/A.KEY")).toBe(true);
    expect(compilePath("/w/*.key")("/w/A.KEY")).toBe(false);
  });

  it("the glob comparison finds patterns that can match the same name", () => {
    expect(patternsMeet("/w/.e?v", "/w/.env*")).toBe(true);
    expect(patternsMeet("/w/*", "/w/**/a.key")).toBe(true);
    expect(patternsMeet("/w/.*", "/w/**/.env")).toBe(true);
    expect(patternsMeet("/w/*", "/w/.env*")).toBe(false);
    expect(patternsMeet("/w/.[de]nv", "/w/.env")).toBe(true);
    expect(patternsMeet("/w/src/*.ts", "/w/.env*")).toBe(false);
    expect(patternsMeet("/w/*", "/w/a/b")).toBe(false);
    expect(patternsMeet("/w/a*", "/w/b")).toBe(false);
    expect(patternsMeet("/w/a*", "/w/*b")).toBe(true);
    expect(patternsMeet("/w/a*c", "/w/a*b")).toBe(false);
    expect(patternsMeet("/w/ab*", "/w/a")).toBe(false);
    expect(patternsMeet("/w/a", "/w/ab*")).toBe(false);
    expect(patternsMeet("/w/a", "/w/a*")).toBe(true);
    expect(patternsMeet("/w/a*", "/w/a")).toBe(true);
    expect(patternsMeet("/w/a?", "/w/a")).toBe(false);
    expect(patternsMeet("/w/A*", "/w/ab")).toBe(true);
    expect(patternsMeet("/w/x*", "/w/[ab]")).toBe(false);
    expect(patternsMeet("/w/a*", "/w/[ab]")).toBe(true);
    expect(patternsMeet("/w/[ab]x", "/w/cx")).toBe(false);
    expect(patternsMeet("/w/[ab]x", "/w/ax")).toBe(true);
    // Whether two sets have something in common is not looked at: the careful answer.
    expect(patternsMeet("/w/[ab]", "/w/[cd]")).toBe(true);
    expect(patternsMeet("/w/x/*", "/w/**")).toBe(true);
    expect(patternsMeet("/w/x/*", "/w/**/y/z/**")).toBe(false);
    expect(patternsMeet("/w/x/*/z", "/w/**/y/**")).toBe(true);
    expect(patternsMeet("/w/x", "/w/x/**")).toBe(true);
    expect(patternsMeet("/w/[.]env", "/w/.env")).toBe(false);
    expect(patternsMeet("/w/?env", "/w/.env")).toBe(false);
  });

  it("matching a glob takes at most time in proportion to pattern times text", () => {
    const time = (size: number) => {
      const started = performance.now();
      for (let round = 0; round < 20; round++) matchesText("*a".repeat(20) + "b", "a".repeat(size));
      return performance.now() - started;
    };
    time(2000);
    // Four times the text, four times the work; the catastrophic kind never comes back.
    expect(time(8000)).toBeLessThan(time(2000) * 40 + 50);
    const deep = "/x".repeat(2000);
    expect(compilePath("/**/a".repeat(100))(deep)).toBe(false);
  });
});
