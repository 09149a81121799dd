import { expect, it } from "vitest";
import { collapsed, oneLine, shortened, shownValue } from "../../src/text/one-line.ts";

it("shortening text marks the cut, and splits no character", () => {
  expect(shortened("abc", 3)).toBe("abc");
  expect(shortened("abcd", 3)).toBe("abc…");
  expect(shortened("ab😀cd", 3)).toBe("ab…");
});

it("a text with line breaks is put on one line", () => {
  expect(oneLine("a  b\r\n\u001b[1mc\u2028d ")).toBe("a  b [1mc d");
  expect(collapsed(" a\t \nb ")).toBe("a b");
});

it("messages show values as JSON, and functions and symbols by name", () => {
  expect(shownValue({ a: [1] })).toBe('{"a":[1]}');
  expect(shownValue(undefined)).toBe("undefined");
  expect(shownValue("x".repeat(90), 10)).toBe('"xxxxxxxxx…');
});
