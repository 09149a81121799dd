// extractJSON: the value in an answer, by a schema of a library, by a JSON Schema, or by none.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { extractJSON, type StandardSchema } from "../../src/sdk/index.ts";

const answer = 'Two lists, [1] and this:\n```json\n{ "bugs": ["a"], "count": "1" }\n```\nor {"bugs": [], "count": 2}.';

describe("extractJSON", () => {
  it("without a schema, extractJSON returns the first JSON value", () => {
    expect(extractJSON('Here is the data: {"name": "John", "age": 30}')).toEqual({ name: "John", age: 30 });
    expect(extractJSON(answer)).toEqual({ bugs: ["a"], count: "1" });
    expect(extractJSON<number[]>("[1, 2]")?.length).toBe(2);
    expect([extractJSON("nothing"), extractJSON(""), extractJSON("{broken")]).toEqual([null, null, null]);
    expect(extractJSON("null")).toBeNull();
  });

  it("with a JSON Schema, extractJSON returns the first value that fits", () => {
    expect(extractJSON(answer, { properties: { count: { type: "integer" } }, required: ["count"] })).toEqual({
      bugs: [],
      count: 2,
    });
    expect(extractJSON(answer, { type: "array" })).toEqual([1]);
    expect(extractJSON(answer, { type: "string" })).toBeNull();
  });

  it("with a schema of a library, extractJSON returns a typed and transformed value", () => {
    const schema = v.object({ bugs: v.array(v.string()), count: v.pipe(v.string(), v.transform(Number)) });
    const found = extractJSON(answer, schema);
    const count: number | undefined = found?.count;
    expect({ found, count }).toEqual({ found: { bugs: ["a"], count: 1 }, count: 1 });
  });

  it("extractJson accepts any Standard Schema", () => {
    const taken = (schema: StandardSchemaV1<unknown, { a: 1 }>): StandardSchema<{ a: 1 }> => schema;
    expect(extractJSON('{"a":1}', taken(v.unknown() as StandardSchemaV1<unknown, { a: 1 }>))?.a).toBe(1);
  });

  it("extractJSON throws a TypeError when the schema validates asynchronously", () => {
    const schema = v.pipeAsync(
      v.unknown(),
      v.checkAsync(async () => true),
    );
    expect(() => extractJSON("{}", schema)).toThrow(TypeError);
  });
});
