// Checks that every keyword of a JSON Schema is supported here, and names any that would be silently ignored.

import { nearestName } from "../text/nearest.ts";
import { isObject } from "./object.ts";
import { resolveRef } from "./schema.ts";

/** Returns what is wrong with the schema, and where, or undefined if all of it is supported. */
export function schemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema) && typeof schema !== "boolean") return "a schema is an object, or true or false";
  return problemOf(schema, "#", schema, 0);
}

/** Returns what is wrong with one keyword and its value. */
export function keywordProblem(keyword: string, value: unknown, root: unknown): string | undefined {
  const check = checks.get(keyword);
  return check ? check(value, keyword, root, 0) : `${keyword} is not a keyword`;
}

type Check = (value: unknown, at: string, root: unknown, depth: number) => string | undefined;

/** For keywords that are only annotations. */
const remark: Check = () => undefined;
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const areNames = (value: unknown) => Array.isArray(value) && value.every(isText);
const namesProblem = must("be a list of names", areNames);

/** The check for each keyword's value. */
const checks: ReadonlyMap<string, Check> = new Map([
  ...each(remark, ["$schema", "$id", "$comment", "title", "description", "default", "examples", "example"]),
  ...each(remark, ["deprecated", "readOnly", "writeOnly", "const"]),
  ...each(remark, ["contentEncoding", "contentMediaType", "contentSchema"]),
  ...each(must("be a string", isText), ["$anchor", "format"]),
  ...each(must("be a list", Array.isArray), ["enum"]),
  ...each(
    must("be true or false", (value) => typeof value === "boolean"),
    ["uniqueItems"],
  ),
  ...each(must("be a non-negative integer", isCount), ["minLength", "maxLength", "minContains", "maxContains"]),
  ...each(must("be a non-negative integer", isCount), ["minItems", "maxItems", "minProperties", "maxProperties"]),
  ...each(must("be a number", isNumber), ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
  ...each(
    must("be a positive number", (value) => isNumber(value) && (value as number) > 0),
    ["multipleOf"],
  ),
  ...each(problemOf, ["not", "if", "then", "else", "additionalItems", "contains"]),
  ...each(problemOf, ["additionalProperties", "propertyNames"]),
  ...each(listProblem, ["allOf", "anyOf", "oneOf", "prefixItems"]),
  ...each((value, ...rest) => (Array.isArray(value) ? listProblem : problemOf)(value, ...rest), ["items"]),
  ...each(byName(problemOf), ["$defs", "definitions", "properties", "dependentSchemas"]),
  ...each(namesProblem, ["required"]),
  ...each(byName(namesProblem), ["dependentRequired"]),
  ...each(
    byName((value, ...rest) => (areNames(value) ? undefined : problemOf(value, ...rest))),
    ["dependencies"],
  ),
  ...each(patternProblem, ["pattern"]),
  ...each(patternsProblem, ["patternProperties"]),
  ...each(typeProblem, ["type"]),
  ...each(refProblem, ["$ref"]),
]);

function each(check: Check, keywords: readonly string[]): [keyword: string, check: Check][] {
  return keywords.map((keyword) => [keyword, check]);
}

function must(what: string, holds: (value: unknown) => unknown): Check {
  return (value, at) => (holds(value) ? undefined : `${at} must ${what}`);
}

const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

const deepest = 200;

function problemOf(schema: unknown, place: string, root: unknown, depth: number): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${place} must be a schema: an object, or true or false`;
  if (depth > deepest) return `${place} is more than ${deepest} schemas deep`;
  return first(Object.entries(schema), ([keyword, value]) => {
    const at = `${place}/${keyword}`;
    const check = checks.get(keyword);
    if (check) return check(value, at, root, depth + 1);
    if (keyword.startsWith("x-")) return undefined;
    const near = nearestName(keyword, [...checks.keys()]);
    return `${at}: the keyword "${keyword}" is not supported, and would be ignored${near ? ` (did you mean "${near}"?)` : ""}`;
  });
}

function listProblem(value: unknown, at: string, root: unknown, depth: number): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return `${at} must be a list of schemas`;
  return first(value.entries(), ([index, item]) => problemOf(item, `${at}/${index}`, root, depth));
}

function patternsProblem(value: unknown, at: string, root: unknown, depth: number): string | undefined {
  const wrong = isObject(value) ? first(Object.keys(value), (pattern) => patternProblem(pattern, at)) : undefined;
  return wrong ?? byName(problemOf)(value, at, root, depth);
}

function typeProblem(value: unknown, at: string): string | undefined {
  const given = Array.isArray(value) ? value : [value];
  const wrong = given.find((type) => !types.includes(type as string));
  if (given.length > 0 && wrong === undefined) return undefined;
  return `${at}: ${JSON.stringify(wrong)} is not a type; the types are ${types.join(", ")}`;
}

function refProblem(value: unknown, at: string, root: unknown): string | undefined {
  if (typeof value !== "string") return `${at} must be a string`;
  if (!value.startsWith("#"))
    return `${at}: "${value}" is external; only references within the same schema are followed`;
  return resolveRef(root, value) === undefined ? `${at}: ${value} is not in the schema` : undefined;
}

function patternProblem(value: unknown, at: string): string | undefined {
  if (typeof value !== "string") return `${at} must be a string`;
  try {
    new RegExp(value, "u");
    return undefined;
  } catch (error) {
    return `${at}: ${(error as Error).message}`;
  }
}

/** Applies a check to all values of an object. */
function byName(check: Check): Check {
  return (value, at, root, depth) => {
    if (!isObject(value)) return `${at} must be an object`;
    return first(Object.entries(value), ([name, item]) => check(item, `${at}/${name}`, root, depth));
  };
}

function first<Item>(items: Iterable<Item>, check: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem) return problem;
  }
  return undefined;
}
