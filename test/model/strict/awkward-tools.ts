// Tools as servers of MCP offer them, each with something in its schema that one vendor or another refuses.

const text = { type: "string" };

function tool(name: string, inputSchema: object, description?: string) {
  return { name, inputSchema: { type: "object", ...inputSchema }, ...(description !== undefined && { description }) };
}

export const awkwardTools = [
  tool("alternatives", {
    properties: { a: text },
    anyOf: [
      { properties: { first_only: text }, required: ["first_only"] },
      { properties: { second_only: text }, required: ["second_only"] },
      { required: ["a"] },
    ],
  }),
  tool("one-of", { properties: { a: { oneOf: [text, { type: "number" }] } }, oneOf: [{ required: ["a"] }] }, ""),
  tool("all-of", {
    allOf: [{ properties: { a: text } }, { $ref: "#/$defs/more" }],
    $defs: { more: { properties: { b: text } } },
  }),
  tool("tuple", { properties: { pair: { type: "array", items: [text, { type: "number" }], additionalItems: false } } }),
  tool("no-items", { properties: { list: { type: "array" }, either: { type: ["array", "null"] } } }),
  tool("draft-4", { properties: { n: { type: "number", minimum: 0, exclusiveMinimum: true } }, required: ["n", "n"] }),
  tool("odd-types", { properties: { a: { type: "any" }, b: { type: ["string", "file"] }, c: { type: [] } } }),
  tool("nulls", {
    properties: { a: { type: "object", description: null, enum: null, pattern: null, required: null } },
  }),
  tool("empty-enum", { properties: { a: { enum: [] }, b: { enum: ["x", "x"] } } }),
  tool("patterns", { properties: { a: { type: "string", pattern: "(?i)[" } } }),
  tool("elsewhere", { properties: { a: { $ref: "https://example.com/schema.json" }, b: { $ref: "#/$defs/none" } } }),
  tool("beside", {
    properties: { a: { type: "object", properties: { deep_field: text } }, b: { $ref: "#/properties/a" } },
  }),
  tool("recursive", {
    properties: { tree: { $ref: "#/definitions/node" }, self: { $ref: "#" } },
    definitions: {
      node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/definitions/node" } } } },
    },
  }),
  tool("chain", {
    properties: { first: { $ref: "#/$defs/link" } },
    required: ["first"],
    $defs: { link: { type: "object", properties: { next: { $ref: "#/$defs/link" } }, required: ["next"] } },
  }),
  tool("mixed", {
    properties: {
      a: { type: ["string", "null"], enum: ["x", null], default: null, description: "With words." },
      b: { type: "object", anyOf: [{ properties: { mixed_field: text } }, { required: ["c"] }], required: ["b"] },
      c: { enum: ["x", 1, true] },
      d: { const: "x" },
      e: { allOf: [{ type: "object", properties: { f: text } }, { $ref: "#/$defs/more" }] },
      f: { type: "array", prefixItems: [text, { type: "number" }], items: false },
    },
    additionalProperties: false,
    $defs: { more: { allOf: [{ $ref: "#/$defs/more" }, { properties: { g: text } }] } },
  }),
  tool("conditions", {
    properties: { a: text },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { in_then: text } },
    if: { required: ["a"] },
    not: { required: ["z"] },
  }),
  tool("booleans", { properties: { a: { type: "object", properties: { anything: true, nothing: false } } } }),
  tool("unnamed", { properties: {}, required: ["a"] }),
  tool("openapi", {
    properties: { a: { type: "string", nullable: true, example: "x", discriminator: {}, format: "file" } },
  }),
  tool("beside-reference", {
    properties: {
      a: { $ref: "#/definitions/shared", description: "With words.", minLength: 2 },
      b: { $ref: "#/definitions/shared" },
    },
    definitions: {
      shared: { type: "object", properties: { shared_field: text, more: { $ref: "#/definitions/shared" } } },
    },
  }),
  tool("remarks", { properties: { a: { ...text, examples: "x", deprecated: "no", readOnly: 1 } } }, "half \ud83d"),
  {
    name: "absent",
    description: null,
    title: null,
    inputSchema: { properties: { a: null, kept_field: text }, required: null },
  },
  tool("brackets", { properties: { "filter[id]": text } }),
];
