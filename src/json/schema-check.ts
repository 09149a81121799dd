// Is a JSON Schema one that is understood here, to the last keyword? What would be passed over in silence is named.

import { nearestName } from "../text/nearest.ts";
import { isObject, type JsonObject } from "./object.ts";
import { resolveRef } from "./schema.ts";

/** What is wrong with the schema, with the place in it. Undefined: every word of it is kept. */
export function schemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema) && typeof schema !== "boolean") return "a schema is an object, or true or false";
  return problemOf(schema, "#", schema, 0);
}

type KeywordKind =
  | "remark"
  | "schema"
  | "schemas"
  | "schemas by name"
  | "schema or list"
  | "count"
  | "number"
  | "text"
  | "switch"
  | "names"
  | "names by name"
  | "schema or names by name"
  | "list"
  | "pattern"
  | "patterns"
  | "type"
  | "ref"
  | "above zero";

const keywords: Readonly<Record<string, KeywordKind>> = {
  $schema: "remark",
  $id: "remark",
  $comment: "remark",
  $anchor: "text",
  $ref: "ref",
  $defs: "schemas by name",
  definitions: "schemas by name",
  title: "remark",
  description: "remark",
  default: "remark",
  examples: "remark",
  example: "remark",
  deprecated: "remark",
  readOnly: "remark",
  writeOnly: "remark",
  contentEncoding: "remark",
  contentMediaType: "remark",
  contentSchema: "remark",
  type: "type",
  enum: "list",
  const: "remark",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  if: "schema",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: "schema",
  else: "schema",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  format: "text",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "above zero",
  items: "schema or list",
  prefixItems: "schemas",
  additionalItems: "schema",
  contains: "schema",
  minContains: "count",
  maxContains: "count",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "switch",
  properties: "schemas by name",
  patternProperties: "patterns",
  additionalProperties: "schema",
  propertyNames: "schema",
  required: "names",
  minProperties: "count",
  maxProperties: "count",
  dependentRequired: "names by name",
  dependentSchemas: "schemas by name",
  dependencies: "schema or names by name",
};

const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

const deepest = 200;

function problemOf(schema: unknown, place: string, root: unknown, depth: number): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${place} must be a schema: an object, or true or false`;
  if (depth > deepest) return `${place} is more than ${deepest} schemas deep`;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${place}/${keyword}`;
    const holds = Object.hasOwn(keywords, keyword) ? keywords[keyword]! : undefined;
    if (holds === undefined) {
      if (keyword.startsWith("x-")) continue;
      const near = nearestName(keyword, Object.keys(keywords));
      return `${at}: the keyword "${keyword}" is not supported, and would be ignored${near ? ` (did you mean "${near}"?)` : ""}`;
    }
    const problem = checks[holds](value, at, root, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

type Check = (value: unknown, at: string, root: unknown, depth: number) => string | undefined;

const checks: Readonly<Record<KeywordKind, Check>> = {
  remark: () => undefined,
  schema: problemOf,
  schemas(value, at, root, depth) {
    if (!Array.isArray(value) || value.length === 0) return `${at} must be a list of schemas`;
    return first(value.entries(), ([index, each]) => problemOf(each, `${at}/${index}`, root, depth));
  },
  "schemas by name": (value, at, root, depth) =>
    byName(value, at, (each, place) => problemOf(each, place, root, depth)),
  "schema or list": (value, at, root, depth) =>
    Array.isArray(value) ? checks.schemas(value, at, root, depth) : problemOf(value, at, root, depth),
  count: (value, at) => (isCount(value) ? undefined : `${at} must be a non-negative integer`),
  number: (value, at) => (typeof value === "number" ? undefined : `${at} must be a number`),
  "above zero": (value, at) => (typeof value === "number" && value > 0 ? undefined : `${at} must be a positive number`),
  text: (value, at) => (typeof value === "string" ? undefined : `${at} must be a string`),
  switch: (value, at) => (typeof value === "boolean" ? undefined : `${at} must be true or false`),
  names: (value, at) => (areNames(value) ? undefined : `${at} must be a list of names`),
  "names by name": (value, at) =>
    byName(value, at, checks.names as (each: unknown, place: string) => string | undefined),
  "schema or names by name": (value, at, root, depth) =>
    byName(value, at, (each, place) => (areNames(each) ? undefined : problemOf(each, place, root, depth))),
  list: (value, at) => (Array.isArray(value) ? undefined : `${at} must be a list`),
  pattern: patternProblem,
  patterns(value, at, root, depth) {
    const wrong = isObject(value) ? first(Object.keys(value), (pattern) => patternProblem(pattern, at)) : undefined;
    return wrong ?? byName(value, at, (each, place) => problemOf(each, place, root, depth));
  },
  type(value, at) {
    const given = Array.isArray(value) ? value : [value];
    const wrong = given.find((each) => !types.includes(each as string));
    if (given.length > 0 && wrong === undefined) return undefined;
    return `${at}: ${JSON.stringify(wrong)} is not a type; the types are ${types.join(", ")}`;
  },
  ref(value, at, root) {
    if (typeof value !== "string") return `${at} must be a string`;
    if (!value.startsWith("#"))
      return `${at}: "${value}" is external; only references within the same schema are followed`;
    return resolveRef(root, value) === undefined ? `${at}: ${value} is not in the schema` : undefined;
  },
};

function patternProblem(value: unknown, at: string): string | undefined {
  if (typeof value !== "string") return `${at} must be a string`;
  try {
    new RegExp(value, "u");
    return undefined;
  } catch (error) {
    return `${at}: ${(error as Error).message}`;
  }
}

function byName(
  value: unknown,
  at: string,
  check: (each: unknown, place: string) => string | undefined,
): string | undefined {
  if (!isObject(value)) return `${at} must be an object`;
  return first(Object.entries(value as JsonObject), ([name, each]) => check(each, `${at}/${name}`));
}

function first<Item>(items: Iterable<Item>, check: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem) return problem;
  }
  return undefined;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function areNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
