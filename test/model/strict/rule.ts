// A documented reason for which a vendor answers 400, and what several of them share.
import { isObject } from "../../../src/json/object.ts";
import type { Wire } from "../../../src/testing/kit/wires/index.ts";

export type Rule = {
  wire: Wire;
  /** As the vendor words it. */
  says: string;
  /** Where it is documented, or was met. */
  link: string;
  /** What in the request breaks it; nothing: undefined. */
  broken(body: any, request: { model: string; path: string }): unknown;
};

export function isBlank(text: unknown): boolean {
  return typeof text !== "string" || text.trim() === "";
}

export function firstRepeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}

/** Every schema in a schema, itself included. */
export function schemasIn(schema: unknown): any[] {
  if (!isObject(schema)) return [];
  const named = ["properties", "$defs", "definitions", "patternProperties"].flatMap((key) =>
    isObject(schema[key]) ? Object.values(schema[key]) : [],
  );
  const listed = ["anyOf", "oneOf", "allOf", "prefixItems"].flatMap(
    (key) => (schema[key] as unknown[] | undefined) ?? [],
  );
  const single = ["items", "additionalProperties", "not"].map((key) => schema[key]);
  return [schema, ...[...named, ...listed, ...single].flatMap(schemasIn)];
}

const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** What JSON Schema 2020-12 says of its keywords, as far as servers of MCP get it wrong. */
export function schemaFault(root: unknown): unknown {
  for (const schema of schemasIn(root)) {
    const { type, items, required, exclusiveMinimum, exclusiveMaximum, description, pattern, $ref } = schema;
    if (type !== undefined && ![type].flat().every((each: unknown) => types.includes(each as string))) return { type };
    if (Array.isArray(items) || items === null) return { items };
    if (required !== undefined && (!Array.isArray(required) || new Set(required).size < required.length))
      return { required };
    for (const bound of [exclusiveMinimum, exclusiveMaximum])
      if (bound !== undefined && typeof bound !== "number") return { bound };
    if (description !== undefined && typeof description !== "string") return { description };
    if (schema.examples !== undefined && !Array.isArray(schema.examples)) return { examples: schema.examples };
    if (schema.deprecated !== undefined && typeof schema.deprecated !== "boolean")
      return { deprecated: schema.deprecated };
    if (schema.enum !== undefined && (!Array.isArray(schema.enum) || schema.enum.length === 0))
      return { enum: schema.enum };
    if (pattern !== undefined && !isPattern(pattern)) return { pattern };
    if ($ref !== undefined && pointed(root, $ref) === undefined) return { $ref };
  }
  return undefined;
}

function isPattern(text: unknown): boolean {
  try {
    new RegExp(String(text), "u");
    return typeof text === "string";
  } catch {
    return false;
  }
}

function pointed(root: unknown, reference: unknown): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  return reference
    .slice(2)
    .split("/")
    .reduce<any>((found, key) => found?.[decodeURIComponent(key)], root);
}

export function withoutItems(root: unknown): unknown {
  return schemasIn(root).find(({ type, items }) => [type].flat().includes("array") && items === undefined);
}

/** How JSON writes a half of a surrogate pair, and NUL: in values and in names of fields. */
const half = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;
const nul = /(?<!\\)(?:\\\\)*\\u0000/;

/** Of every API. */
export function textRules(wire: Wire): Rule[] {
  return [
    {
      wire,
      says: "The request body is not valid JSON: no low surrogate in string",
      link: "https://github.com/anthropics/claude-code/issues/3277",
      broken: (body) => half.exec(JSON.stringify(body))?.[0],
    },
    {
      wire,
      says: "Servers that keep text as C strings read nothing after NUL",
      link: "https://github.com/aebrer/dreb/issues/352",
      broken: (body) => nul.exec(JSON.stringify(body))?.[0],
    },
  ];
}

/** Width and height of a PNG, as `png` of awkward-history.ts writes them. */
export function pixelsOf(base64: string): number {
  const bytes = Buffer.from(base64.slice(0, 64), "base64");
  return bytes[0] === 0x89 ? Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) : 0;
}

/** What every vendor says of images: 5 MiB of Base64, 8000 pixels, and how many. */
export function imageFault(images: readonly string[], most = 20): unknown {
  if (images.length > most) return `${images.length} images`;
  return images.find((data) => data.length > 5 * 1024 * 1024 || pixelsOf(data) > 8000)?.slice(0, 40);
}

const combinators = ["anyOf", "oneOf", "allOf", "enum", "not"];

export function topCombinator(schema: any): unknown {
  return schema?.type !== "object"
    ? { type: schema?.type }
    : combinators.find((keyword) => schema[keyword] !== undefined);
}
