// Edits of JSON texts with comments: whatever the text looks like, only what is meant changes.
import { describe, expect, it } from "vitest";
import { editJson, type JsonEdit } from "../../src/store/json-edit.ts";
import { parseJsonc } from "../../src/store/jsonc.ts";

describe("editJson", () => {
  it.each<[name: string, before: string, edit: JsonEdit, after: string]>([
    ["into an empty object", "{}", { type: "append", path: ["a", "b"], value: 1 }, '{"a": {"b":[1]}}'],
    [
      "into an object of lines",
      '{\n  "x": 1\n}\n',
      { type: "set", path: ["y"], value: { z: [] } },
      '{\n  "x": 1,\n  "y": {\n    "z": []\n  }\n}\n',
    ],
    [
      "behind a trailing comma",
      '{\n  "a": [\n    1, // one\n  ]\n}',
      { type: "append", path: ["a"], value: 2 },
      '{\n  "a": [\n    1, // one\n    2,\n  ]\n}',
    ],
    ["on the same line", '{ "a": [1] }', { type: "append", path: ["a"], value: { b: 2 } }, '{ "a": [1, {"b":2}] }'],
    [
      "with tabs and CRLF",
      '{\r\n\t"a": []\r\n}',
      { type: "append", path: ["a"], value: { b: 1 } },
      '{\r\n\t"a": [\r\n\t\t{\r\n\t\t\t"b": 1\r\n\t\t}\r\n\t]\r\n}',
    ],
    ["the first goes", '{ "a": [1, 2] }', { type: "remove", path: ["a", 0] }, '{ "a": [ 2] }'],
    [
      "the last goes",
      '{\n  "a": [\n    1, // one\n    2 // two\n  ]\n}',
      { type: "remove", path: ["a", 1] },
      '{\n  "a": [\n    1 // one\n     // two\n  ]\n}',
    ],
    ["the only one goes", '{\n  "a": [\n    1\n  ]\n}', { type: "remove", path: ["a", 0] }, '{\n  "a": []\n}'],
    [
      "a member goes",
      '{\n  "a": 1,\n  // of b\n  "b": {},\n  "c": 2\n}',
      { type: "remove", path: ["b"] },
      '{\n  "a": 1,\n  // of b\n  "c": 2\n}',
    ],
  ])("an edit of JSON text keeps the rest as it is: %s", (_name, before, edit, after) => {
    expect(editJson(before, [edit])).toBe(after);
  });

  it("editing a JSON file keeps its byte order mark", () => {
    expect(editJson("\ufeff{}", [{ type: "set", path: ["a"], value: 1 }])).toBe('\ufeff{"a": 1}');
  });

  it("500 random texts keep their content apart from the edit", () => {
    let seed = 42;
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    const blanks = () => ["", " ", "\n  ", "\n\t// a, [comment] {\n", " /* b, } */ ", "\r\n"][random(6)]!;
    for (let round = 0; round < 500; round++) {
      const write = (depth: number): string => {
        const kind = random(depth > 2 ? 2 : 4);
        const count = random(4);
        const end = count > 0 && random(3) === 0 ? "," : "";
        if (kind === 0) return String(random(100));
        if (kind === 1) return '"a \\" // no comment, ]"';
        const list = Array.from(
          { length: count },
          (_, at) => blanks() + (kind === 2 ? "" : `"k${at}"${blanks()}:${blanks()}`) + write(depth + 1) + blanks(),
        );
        return kind === 2 ? `[${list.join(",")}${end}${blanks()}]` : `{${list.join(",")}${end}${blanks()}}`;
      };
      const text = `{"list":[${write(0)},${blanks()}${write(0)}${blanks()}],${blanks()}"o":${write(0)}${blanks()}}`;
      const comments = (of: string) => (of.match(/\/\/ a|\/\* b/g) ?? []).length;
      const appended = editJson(text, [{ type: "append", path: ["list"], value: { x: [1] } }]);
      expect(comments(appended)).toBe(comments(text));
      const back = editJson(appended, [{ type: "remove", path: ["list", 2] }]);
      expect(parseJsonc(back)).toEqual(parseJsonc(text));
      expect(comments(back)).toBe(comments(text));
      editJson(text, [
        { type: "remove", path: ["list", random(2)] },
        { type: "remove", path: ["o"] },
        { type: "set", path: ["n"], value: null },
      ]);
    }
  });
});
