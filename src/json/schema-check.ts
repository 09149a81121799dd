// Checks that every keyword of a JSON Schema is supported here, and names any that would be silently ignored.

import { nearestName } from "../text/nearest.ts";
import { list } from "../text/words.ts";
import { isObject } from "./object.ts";
import { resolveRef } from "./schema.ts";

/** Returns what is wrong with the schema, and where, or undefined if all of it is supported. */
export function schemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema) && typeof schema !== "boolean") return "a schema is an object, or true or false";
  return problemOf(schema, "#", schema, 0);
}

/** Returns what is wrong with a keyword and its value, or undefined. */
export function keywordProblem(keyword: string, value: unknown, root: unknown): string | undefined {
  const check = checks.get(keyword);
  return check ? check(value, keyword, root, 0) : `${keyword} is not a keyword`;
}

type Check = (value: unknown, at: string, root: unknown, depth: number) => string | undefined;

/** Accepts any value of a keyword that is only an annotation. */
const remark: Check = () => undefined;
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const isBoolean = (value: unknown) => typeof value === "boolean";
const isPositive = (value: unknown) => isNumber(value) && (value as number) > 0;
const areNames = (value: unknown) => Array.isArray(value) && value.every(isText);
const namesProblem = mustBe("be a list of names", areNames);

const checks: ReadonlyMap<string, Check> = new Map([
  ...forKeywords(remark, "$schema $id $comment title description default examples example deprecated"),
  ...forKeywords(remark, "readOnly writeOnly const contentEncoding contentMediaType contentSchema"),
  ...forKeywords(mustBe("be a string", isText), "$anchor format"),
  ...forKeywords(mustBe("be a list", Array.isArray), "enum"),
  ...forKeywords(mustBe("be true or false", isBoolean), "uniqueItems"),
  ...forKeywords(mustBe("be a non-negative integer", isCount), "minLength maxLength minContains maxContains"),
  ...forKeywords(mustBe("be a non-negative integer", isCount), "minItems maxItems minProperties maxProperties"),
  ...forKeywords(mustBe("be a number", isNumber), "minimum maximum exclusiveMinimum exclusiveMaximum"),
  ...forKeywords(mustBe("be a positive number", isPositive), "multipleOf"),
  ...forKeywords(problemOf, "not if then else additionalItems contains additionalProperties propertyNames"),
  ...forKeywords(listProblem, "allOf anyOf oneOf prefixItems"),
  ...forKeywords((value, ...rest) => (Array.isArray(value) ? listProblem : problemOf)(value, ...rest), "items"),
  ...forKeywords(byName(problemOf), "$defs definitions properties dependentSchemas"),
  ...forKeywords(namesProblem, "required"),
  ...forKeywords(byName(namesProblem), "dependentRequired"),
  ...forKeywords(byName(dependencyProblem), "dependencies"),
  ...forKeywords(patternProblem, "pattern"),
  ...forKeywords(patternsProblem, "patternProperties"),
  ...forKeywords(typeProblem, "type"),
  ...forKeywords(refProblem, "$ref"),
]);

function forKeywords(check: Check, keywords: string): [keyword: string, check: Check][] {
  return list(keywords).map((keyword) => [keyword, check]);
}

function mustBe(what: string, holds: (value: unknown) => unknown): Check {
  return (value, at) => (holds(value) ? undefined : `${at} must ${what}`);
}

const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

const deepest = 200;

function problemOf(schema: unknown, place: string, root: unknown, depth: number): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${place} must be a schema: an object, or true or false`;
  if (depth > deepest) return `${place} is more than ${deepest} schemas deep`;
  return firstFault(Object.entries(schema), ([keyword, value]) => {
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
  return firstFault(value.entries(), ([index, item]) => problemOf(item, `${at}/${index}`, root, depth));
}

/** Checks a dependency, which is a list of further keys, or a schema for the whole object. */
function dependencyProblem(value: unknown, at: string, root: unknown, depth: number): string | undefined {
  return areNames(value) ? undefined : problemOf(value, at, root, depth);
}

function patternsProblem(value: unknown, at: string, root: unknown, depth: number): string | undefined {
  const wrong = isObject(value) ? firstFault(Object.keys(value), (pattern) => patternProblem(pattern, at)) : undefined;
  return wrong ?? byName(problemOf)(value, at, root, depth);
}

function typeProblem(value: unknown, at: string): string | undefined {
  const typeNames = Array.isArray(value) ? value : [value];
  const wrong = typeNames.find((type) => !types.includes(type as string));
  if (typeNames.length > 0 && wrong === undefined) return undefined;
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
    return firstFault(Object.entries(value), ([name, item]) => check(item, `${at}/${name}`, root, depth));
  };
}

function firstFault<Item>(items: Iterable<Item>, check: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem) return problem;
  }
  return undefined;
}
