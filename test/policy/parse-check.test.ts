import { describe, expect, it } from "vitest";
import { ParseCheck } from "../../src/policy/parse/parse-check.ts";

type Part = { type: string; text: string; at?: number; quoted?: boolean; source?: string };

/** What is said of a parser that gives this account of a text. */
function problemOf(source: string, ...parts: Part[]): string | undefined {
  const check = new ParseCheck();
  for (const { type, text, at = source.indexOf(text), quoted, source: inner } of parts) {
    const place = { pos: at, end: at + text.length };
    const script = { source: inner };
    check.note({ type, text, ...place, body: place, delimiter: { quoted }, script } as never, source);
  }
  return check.problem();
}

const word = (text: string, at?: number): Part => ({ type: "Word", text, ...(at !== undefined && { at }) });
const substitution = (text: string, at?: number): Part => ({ ...word(text, at), type: "CommandExpansion" });

describe("checking the shell parser's result", () => {
  it.each([
    ["a $(b)", word("$(b)"), substitution("$(b)")],
    ["a `b`", word("`b`"), substitution("`b`")],
    ["a ``", word("``"), substitution("``")],
    ["a <(b)", word("<(b)"), { type: "ProcessSubstitution", text: "<(b)" }],
    ["a $(($(b)))", word("$(($(b)))"), { type: "ArithmeticExpansion", text: "$(($(b)))" }, substitution("$(b)")],
    [
      "a $(( $(b) ))",
      word("$(( $(b) ))"),
      { type: "ArithmeticCommandExpansion", text: "$(( $(b) ))" },
      substitution("$(b)"),
    ],
    ["a $[1]", word("$[1]"), { type: "ArithmeticExpansion", text: "$[1]" }],
    ["a '$(b)'", word("'$(b)'"), { type: "SingleQuoted", text: "'$(b)'" }],
    ["a '$(b)' c", word("c"), word("'$(b)'"), { type: "AnsiCQuoted", text: "'$(b)'" }],
    ["a # $(b)", word("a")],
    ["a$(b)", word("a")],
    ["a \\$(b)", word("\\$(b)")],
    ["a \\\\\\$(b)", word("\\\\\\$(b)")],
    ["a <<'E'\n$(b)\nE", { type: "HereDoc", text: "$(b)\n", quoted: true }],
    ["a `b \\`c\\``", word("`b \\`c\\``"), { ...substitution("`b \\`c\\``"), source: "b `c`" }],
    ["a `b \\`$(c)\\``", word("`b \\`$(c)\\``"), { ...substitution("`b \\`$(c)\\``"), source: "b `$(c)`" }],
  ] as [string, ...Part[]][])("a parse result is accepted if nothing contradicts it: %j", (source, ...parts) => {
    expect(problemOf(source, ...parts)).toBeUndefined();
  });

  it.each([
    ["a $(b)", word("$(b)")],
    ["a `b`", word("`b`")],
    ["a >(b)", word(">(b)")],
    ["a c$(b)", word("a"), word("c$(b)")],
    ["a $(b) $(b)", word("$(b) $(b)"), substitution("$(b)")],
    ["a '$(b)'$(c)", word("'$(b)'$(c)"), { type: "SingleQuoted", text: "'$(b)'" }],
    ["a \\\\$(b)", word("\\\\$(b)")],
    ["x=$(b)", { type: "Assignment", text: "x=$(b)" }],
    ["(($(b)))", { type: "ArithmeticCommand", text: "(($(b)))" }],
    ["for ((;$(b);)); do :; done", { type: "ArithmeticFor", text: "for ((;$(b);))" }],
    ["a <<E\n$(b)\nE", { type: "HereDoc", text: "$(b)\n", quoted: false }],
    ["a `b $(c)`", word("`b $(c)`"), substitution("`b $(c)`")],
    ["a `b`$(c)", word("`b`$(c)"), { ...substitution("`b`"), source: "b" }],
    ["a $(b", word("$(b"), substitution("$(b")],
    ["a `b", word("`b"), substitution("`b")],
    ["a $((b)", word("$((b)"), { type: "ArithmeticExpansion", text: "$((b)" }],
    ["a $[b", word("$[b"), { type: "ArithmeticExpansion", text: "$[b" }],
  ] as [string, ...Part[]][])(
    "a parse result is rejected if something is missing or cut off: %j",
    (source, ...parts) => {
      expect(problemOf(source, ...parts)).toEqual(expect.any(String));
    },
  );
});
