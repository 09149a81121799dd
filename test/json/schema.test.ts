// JSON Schema: values against schemas, schemas against what is known of them, JSON in the midst of words.
import { describe, expect, it } from "vitest";
import { jsonIn } from "../../src/json/find-in-text.ts";
import { valueFault } from "../../src/json/schema.ts";
import { schemaProblem } from "../../src/json/schema-check.ts";
import { schemaFault } from "../../src/protocol/turn-contract.ts";

const fault = (schema: unknown, value: unknown) => valueFault(value, schema, { place: "answer", strict: true });

/** Each row: a schema, values that fit, values that do not. */
const rows: [keyword: string, schema: unknown, good: unknown[], bad: unknown[]][] = [
  ["true and false", true, [1, null], []],
  ["false", false, [], [1, null]],
  ["type", { type: "integer" }, [1, -2, 1.0], [1.5, "1", null]],
  ["types", { type: ["string", "null"] }, ["", null], [0, []]],
  ["enum", { enum: [1, { a: 1, b: 2 }] }, [1, { b: 2, a: 1 }], [2, { a: 1 }]],
  ["const", { const: [1, "a"] }, [[1, "a"]], [["a", 1]]],
  ["length in characters, not code units", { minLength: 2, maxLength: 2 }, ["ab", "😀😀"], ["😀", "abc"]],
  ["pattern", { pattern: "^a+$" }, ["aa", 7], ["b"]],
  ["range", { minimum: 1, maximum: 3 }, [1, 3], [0, 4]],
  ["open range", { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
  ["multipleOf", { multipleOf: 0.1 }, [0.3, 0, 1], [0.35]],
  ["items", { items: { type: "string" }, minItems: 1, maxItems: 2 }, [["a"], ["a", "b"]], [[], [1], ["a", "b", "c"]]],
  ["prefixItems", { prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1], []], [[1], ["a", "b"]]],
  ["items of draft 7", { items: [{ type: "string" }], additionalItems: false }, [["a"], []], [["a", 1], [1]]],
  [
    "uniqueItems",
    { uniqueItems: true },
    [
      [1, 2],
      [{ a: 1 }, { a: 2 }],
    ],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  [
    "contains",
    { contains: { type: "number" }, maxContains: 2 },
    [
      ["a", 1],
      [1, 2],
    ],
    [["a"], [1, 2, 3]],
  ],
  ["minContains", { contains: { type: "number" }, minContains: 0 }, [["a"]], []],
  ["required", { required: ["a"] }, [{ a: undefined }, 7], [{}]],
  ["properties", { properties: { a: { type: "number" } } }, [{}, { a: 1, b: "x" }], [{ a: "1" }]],
  ["no others", { properties: { a: {} }, additionalProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  ["others by schema", { additionalProperties: { type: "number" } }, [{ b: 1 }], [{ b: "1" }]],
  [
    "patternProperties",
    { patternProperties: { "^n_": { type: "number" } }, additionalProperties: false },
    [{ n_a: 1 }],
    [{ n_a: "x" }, { other: 1 }],
  ],
  ["propertyNames", { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  ["count of properties", { minProperties: 1, maxProperties: 1 }, [{ a: 1 }], [{}, { a: 1, b: 1 }]],
  ["dependentRequired", { dependentRequired: { a: ["b"] } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
  ["dependentSchemas", { dependentSchemas: { a: { required: ["b"] } } }, [{ a: 1, b: 1 }], [{ a: 1 }]],
  ["dependencies", { dependencies: { a: ["b"], c: { required: ["d"] } } }, [{ c: 1, d: 1 }], [{ a: 1 }, { c: 1 }]],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  ["anyOf", { anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [1]],
  ["oneOf", { oneOf: [{ minimum: 1 }, { maximum: 5 }] }, [0, 9], [3]],
  ["not", { not: { type: "null" } }, [1], [null]],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["if", { if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 1 } }, ["ab", 1], ["a", 0]],
  ["$ref", { $defs: { "a/b": { type: "number" } }, $ref: "#/$defs/a~1b" }, [1], ["1"]],
  ["$anchor", { $defs: { x: { $anchor: "here", type: "number" } }, $ref: "#here" }, [1], ["1"]],
  [
    "a schema within itself",
    { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false },
    [{ next: { next: {} } }],
    [{ next: { other: 1 } }],
  ],
  ["date", { format: "date" }, ["2026-02-28"], ["2026-02-30", "28.2.2026"]],
  ["date-time", { format: "date-time" }, ["2026-02-28T10:00:00Z", "2026-02-28t10:00:00.5+01:00"], ["2026-02-28", "x"]],
  ["other formats", { format: "email" }, ["a@b.c"], ["a"]],
  ["uuid", { format: "uuid" }, ["0c79b9f5-d4a6-433b-ab10-2212d47390af"], ["0c79"]],
  ["a format that nobody knows", { format: "colour" }, ["x"], []],
  [
    "names that are everywhere",
    { properties: { constructor: { type: "number" } } },
    [{}, { toString: 1 }],
    [{ constructor: "x" }],
  ],
];

describe("validating values", () => {
  it.each(rows)("a value is validated against a JSON Schema: %s", (_, schema, good, bad) => {
    expect(schemaProblem(schema)).toBeUndefined();
    for (const value of good) expect(fault(schema, value), JSON.stringify(value)).toBeUndefined();
    for (const value of bad) expect(fault(schema, value), JSON.stringify(value)).toBeTypeOf("string");
  });

  it("JSON Schema errors say where the fault is and what is wrong", () => {
    const schema = {
      type: "object",
      properties: { bugs: { type: "array", items: { required: ["line"], properties: { line: { type: "integer" } } } } },
    };
    expect(fault(schema, { bugs: [{ line: 1 }, {}] })).toBe("answer.bugs[1].line is missing");
    expect(fault(schema, { bugs: [{ line: "1" }] })).toBe("answer.bugs[0].line must be integer");
    expect(fault({ anyOf: [{ type: "object", required: ["a"] }, { type: "null" }] }, {})).toBe("answer.a is missing");
    expect(fault({ anyOf: [{ type: "string" }, { type: "null" }] }, 1)).toBe("answer matches none of its alternatives");
  });

  it("the JSON Schema check refuses a schema that refers to itself without end", () => {
    expect(fault({ $ref: "#" }, 1)).toMatch(/no end/);
    const names = Array.from({ length: 40 }, (_, index) => `d${index}`);
    const $defs = Object.fromEntries(
      names.map((name, index) => {
        const next = { $ref: `#/$defs/${names[index + 1] ?? "end"}` };
        return [name, { anyOf: [next, next] }];
      }),
    );
    expect(schemaFault(1, { $defs: { ...$defs, end: false }, $ref: "#/$defs/d0" })).toBeTypeOf("string");
  });

  it("the JSON Schema check does not run regular expressions in tool argument schemas", () => {
    // It would not come back from this one.
    expect(schemaFault({ a: `${"a".repeat(99)}!` }, { properties: { a: { pattern: "^(a+)+$" } } })).toBeUndefined();
    expect(schemaFault({ b: 1 }, { patternProperties: { "^a": {} }, additionalProperties: false })).toBeUndefined();
    expect(schemaFault({}, { required: ["a"] })).toBe("arguments.a is missing");
  });
});

describe("reading schemas", () => {
  it.each([
    [7, /a schema is an object/],
    [{ type: "strnig" }, /#\/type: "strnig" is not a type/],
    [{ properties: { a: { requierd: ["b"] } } }, /#\/properties\/a\/requierd: .*did you mean "required"/],
    [{ unevaluatedProperties: false }, /"unevaluatedProperties" is not supported/],
    [{ nullable: true }, /"nullable" is not supported/],
    [{ properties: [] }, /#\/properties must be an object/],
    [{ properties: { a: "string" } }, /#\/properties\/a must be a schema/],
    [{ required: "a" }, /#\/required must be a list of names/],
    [{ minLength: -1 }, /#\/minLength must be a non-negative integer/],
    [{ exclusiveMinimum: true }, /#\/exclusiveMinimum must be a number/],
    [{ pattern: "(" }, /#\/pattern: /],
    [{ patternProperties: { "(": {} } }, /#\/patternProperties: /],
    [{ $ref: "https://example.com/s.json" }, /is external/],
    [{ $ref: "#/$defs/a" }, /#\/\$defs\/a is not in the schema/],
    [{ anyOf: [] }, /#\/anyOf must be a list of schemas/],
    [{ items: [{ minimum: "1" }] }, /#\/items\/0\/minimum must be a number/],
    [{ multipleOf: 0 }, /a positive number/],
  ])("the faulty JSON Schema %j is refused with the reason", (schema, expected) =>
    expect(schemaProblem(schema)).toMatch(expected),
  );

  it("JSON Schema annotations are known and do not restrict", () => {
    const remarks = { $schema: "x", $id: "x", title: "x", description: "x", default: 1, examples: [1], "x-order": 1 };
    expect(schemaProblem(remarks)).toBeUndefined();
    expect(fault(remarks, "anything")).toBeUndefined();
  });
});

it("the JSON Schema check reports a pattern that takes too long instead of hanging", () => {
  const bomb = { items: { pattern: "^(a|a)*$" } };
  const values = Array.from({ length: 50 }, () => `${"a".repeat(60)}b`);
  expect(fault(bomb, values)).toBe("answer cannot be checked: a pattern of the schema takes too long");
  expect(fault({ patternProperties: { "^(a?){60}$": false } }, { [values[0]!]: 1 })).toMatch(/takes too long/);
});

describe("JSON in text", () => {
  const values = (text: string) => [...jsonIn(text)];

  it.each([
    ["alone", ' {"a":1}\n', [{ a: 1 }]],
    ["a list alone", "[1,2]", [[1, 2]]],
    ["a fenced block first", 'I use {"draft":1}.\n```json\n{"a":1}\n```\n', [{ a: 1 }, { draft: 1 }, { a: 1 }]],
    ["in the midst of words", 'Here you are: {"a":"}{"} and [2]!', [{ a: "}{" }, [2]]],
    ["behind brackets that are none", 'In {braces} and [see] {"a": {"b": [1]}}', [{ a: { b: [1] } }]],
    ["behind a quote in prose", '5" {"a":1}', [{ a: 1 }]],
    ["footnotes last", 'As [1] says: {"a":1}, [2, 3] and {}', [{ a: 1 }, [1], [2, 3], {}]],
    ["with escapes", '{"a":"\\"}\\\\"} rest', [{ a: '"}\\' }]],
    ["cut off", '{"a":{"b":1}', [{ b: 1 }]],
    ["nothing", "no json { here ]", []],
    ["empty", "", []],
  ])("the answer parser finds JSON in the middle of text: %s", (_, text, expected) =>
    expect(values(text)).toEqual(expected),
  );

  it("the answer parser gives up early on text full of open brackets", () => {
    for (const text of ["[".repeat(400_000), '{"'.repeat(200_000), "{[".repeat(200_000), "```\n".repeat(100_000)])
      expect(values(text)).toEqual([]);
  });
});
