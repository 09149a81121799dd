// Validates a value against a JSON Schema (2020-12, and draft 7 where it differs); returns the first fault as a sentence.

import { decodeUri } from "../text/decode-uri.ts";
import { withinTime } from "../text/pattern-in-time.ts";
import { canonicalJson, isObject, type JsonObject } from "./object.ts";

/** The options of `valueFault`. */
export type SchemaOptions = {
  /** What error messages call the value. */
  place?: string;
  /** Whether patterns and formats are checked. Not for an untrusted schema, which could make each check take any time. */
  strict?: boolean;
};

/** Returns what is wrong with the value, and where, or undefined if it is valid. Unknown keywords do not restrict. */
export function valueFault(value: unknown, schema: unknown, options: SchemaOptions = {}): string | undefined {
  const { strict = false } = options;
  const place = options.place ?? "value";
  const check: Check = { root: schema, strict, steps: strict ? ownSteps : strangersSteps, depth: 0 };
  if (!strict) return faultOf(value, schema, place, check);
  const checked = withinTime(longestMs, () => ({ fault: faultOf(value, schema, place, check) }));
  return checked ? checked.fault : `${place} cannot be checked: a pattern of the schema takes too long`;
}

/** The state of a check. `steps` is how many are left before the schema counts as endless. */
type Check = { root: unknown; strict: boolean; steps: number; depth: number };

const ownSteps = 2_000_000;
const strangersSteps = 200_000;
const deepest = 500;
/** How many milliseconds a pattern may take, since some never finish. */
const longestMs = 2000;

function faultOf(value: unknown, schema: unknown, place: string, check: Check): string | undefined {
  if (schema === false) return `${place} is not allowed`;
  if (!isObject(schema)) return undefined;
  if (--check.steps < 0 || check.depth >= deepest)
    return `${place} cannot be checked: the schema, or the value, has no end`;
  check.depth++;
  const fault =
    anyValueFault(value, schema, place) ??
    combinedFault(value, schema, place, check) ??
    kindFault(value, schema, place, check);
  check.depth--;
  return fault;
}

function isValid(value: unknown, schema: unknown, place: string, check: Check): boolean {
  return faultOf(value, schema, place, check) === undefined;
}

function anyValueFault(value: unknown, schema: JsonObject, place: string): string | undefined {
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return `${place} must be ${types.join(" or ")}`;
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => sameJson(choice, value))) {
    return `${place} must be one of ${JSON.stringify(schema.enum)}`;
  }
  if ("const" in schema && !sameJson(schema.const, value)) return `${place} must be ${JSON.stringify(schema.const)}`;
  return undefined;
}

/** Checks a value against the schemas that a schema is composed of. */
function combinedFault(value: unknown, schema: JsonObject, place: string, check: Check): string | undefined {
  if (typeof schema.$ref === "string") {
    const fault = faultOf(value, resolveRef(check.root, schema.$ref), place, check);
    if (fault) return fault;
  }
  for (const part of listOf(schema.allOf)) {
    const fault = faultOf(value, part, place, check);
    if (fault) return fault;
  }
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((choice) => isValid(value, choice, place, check))) {
    return noAlternativeFault(value, schema.anyOf, place, check);
  }
  if (Array.isArray(schema.oneOf)) {
    const count = schema.oneOf.filter((choice) => isValid(value, choice, place, check)).length;
    if (count === 0) return noAlternativeFault(value, schema.oneOf, place, check);
    if (count > 1) return `${place} matches ${count} of its alternatives, and must match exactly one`;
  }
  if (schema.not !== undefined && isValid(value, schema.not, place, check))
    return `${place} matches what it must not match`;
  if (schema.if !== undefined) {
    return faultOf(value, isValid(value, schema.if, place, check) ? schema.then : schema.else, place, check);
  }
  return undefined;
}

/** Returns why no alternative matches. If only one of them is plausible, that one's fault is the most helpful. */
function noAlternativeFault(value: unknown, choices: readonly unknown[], place: string, check: Check): string {
  const meant = choices.filter((choice) => isObject(choice) && anyValueFault(value, choice, place) === undefined);
  const fault = meant.length === 1 || choices.length === 1 ? faultOf(value, meant[0] ?? choices[0], place, check) : "";
  return fault || `${place} matches none of its alternatives`;
}

function kindFault(value: unknown, schema: JsonObject, place: string, check: Check): string | undefined {
  if (typeof value === "string") return textFault(value, schema, place, check);
  if (typeof value === "number") return rangeFault(value, schema, place);
  if (Array.isArray(value)) return listFault(value, schema, place, check);
  return isObject(value) ? objectFault(value, schema, place, check) : undefined;
}

function textFault(value: string, schema: JsonObject, place: string, check: Check): string | undefined {
  const { minLength, maxLength, pattern, format } = schema;
  if (minLength !== undefined || maxLength !== undefined) {
    const fault = lengthFault([...value].length, minLength, maxLength, place);
    if (fault) return fault;
  }
  if (!check.strict) return undefined;
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) {
    return `${place} does not match the pattern ${pattern}`;
  }
  return typeof format === "string" && formats.get(format)?.test(value) === false
    ? `${place} is not a valid ${format}`
    : undefined;
}

function rangeFault(value: number, schema: JsonObject, place: string): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && value < minimum) return `${place} is less than ${minimum}`;
  if (typeof maximum === "number" && value > maximum) return `${place} is more than ${maximum}`;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    return `${place} must be more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    return `${place} must be less than ${exclusiveMaximum}`;
  if (typeof multipleOf === "number" && multipleOf > 0 && !isMultiple(value, multipleOf))
    return `${place} must be a multiple of ${multipleOf}`;
  return undefined;
}

/** Allows for rounding: 0.3 is a multiple of 0.1, though not in binary. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times)) * 4;
}

function listFault(value: unknown[], schema: JsonObject, place: string, check: Check): string | undefined {
  // In draft 7, `items` may be the list of leading items, and `additionalItems` is for the rest.
  const isOldForm = Array.isArray(schema.items);
  const leading = listOf(isOldForm ? schema.items : schema.prefixItems);
  const rest = isOldForm ? schema.additionalItems : schema.items;
  for (const [index, item] of value.entries()) {
    const fault = faultOf(item, index < leading.length ? leading[index] : rest, `${place}[${index}]`, check);
    if (fault) return fault;
  }
  const fault = lengthFault(value.length, schema.minItems, schema.maxItems, place);
  if (fault) return fault;
  if (schema.uniqueItems === true) {
    const seen = new Set(value.map(canonicalJson));
    if (seen.size < value.length) return `${place} contains the same item twice`;
  }
  return schema.contains === undefined ? undefined : containsFault(value, schema, place, check);
}

function containsFault(value: unknown[], schema: JsonObject, place: string, check: Check): string | undefined {
  const { contains, minContains = 1, maxContains } = schema;
  const count = value.filter((item, index) => isValid(item, contains, `${place}[${index}]`, check)).length;
  if (typeof minContains === "number" && count < minContains)
    return `${place} contains ${count} of the required items, and must contain ${minContains}`;
  if (typeof maxContains === "number" && count > maxContains)
    return `${place} contains ${count} such items, and may contain ${maxContains}`;
  return undefined;
}

function objectFault(value: JsonObject, schema: JsonObject, place: string, check: Check): string | undefined {
  for (const key of listOf(schema.required)) {
    if (typeof key === "string" && !Object.hasOwn(value, key)) return `${place}.${key} is missing`;
  }
  const keys = Object.keys(value);
  for (const key of keys) {
    const at = `${place}.${key}`;
    for (const each of schemasOfKey(key, schema, check)) {
      const fault = faultOf(value[key], each, at, check);
      if (fault) return fault;
    }
    if (schema.propertyNames !== undefined && !isValid(key, schema.propertyNames, at, check))
      return `${at} has a name that is not allowed`;
  }
  const { minProperties: least, maxProperties: most } = schema;
  if (typeof least === "number" && keys.length < least) return `${place} must have at least ${least} properties`;
  if (typeof most === "number" && keys.length > most) return `${place} may have at most ${most} properties`;
  return dependentFault(value, schema, place, check);
}

/** Returns the schemas for a key's value: its own and those of matching patterns, or else `additionalProperties`. */
function schemasOfKey(key: string, schema: JsonObject, check: Check): unknown[] {
  const found: unknown[] = [];
  const { properties, patternProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, key)) found.push(properties[key]);
  if (isObject(patternProperties)) {
    // Without patterns, no key can be called unknown.
    if (!check.strict) return found;
    for (const [pattern, each] of Object.entries(patternProperties))
      if (new RegExp(pattern, "u").test(key)) found.push(each);
  }
  return found.length > 0 ? found : [schema.additionalProperties];
}

function dependentFault(value: JsonObject, schema: JsonObject, place: string, check: Check): string | undefined {
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    const rules = schema[keyword];
    if (!isObject(rules)) continue;
    for (const [key, rule] of Object.entries(rules)) {
      if (!Object.hasOwn(value, key)) continue;
      const missing = listOf(rule).find((needed) => typeof needed === "string" && !Object.hasOwn(value, needed));
      if (missing !== undefined) return `${place}.${missing} is missing, which ${key} requires`;
      const fault = Array.isArray(rule) ? undefined : faultOf(value, rule, place, check);
      if (fault) return fault;
    }
  }
  return undefined;
}

/** Resolves a reference within the schema itself, or returns undefined. */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (ref.startsWith("#/")) return resolvePointer(root, ref.slice(2));
  return ref.startsWith("#") ? findAnchor(root, ref.slice(1)) : undefined;
}

function resolvePointer(root: unknown, pointer: string): unknown {
  let found = root;
  for (const part of pointer.split("/")) {
    const key = decodeUri(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as JsonObject)[key];
  }
  return found;
}

function findAnchor(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (isObject(value) && value.$anchor === name) return value;
  for (const each of Object.values(value)) {
    const found = findAnchor(each, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function lengthFault(length: number, least: unknown, most: unknown, place: string): string | undefined {
  if (typeof least === "number" && length < least) return `${place} is shorter than ${least}`;
  if (typeof most === "number" && length > most) return `${place} is longer than ${most}`;
  return undefined;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function sameJson(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The formats that are checked. All others are only annotations. */
const formats = new Map<string, { test(text: string): boolean }>([
  ["date", { test: isDate }],
  ["time", { test: isTime }],
  ["date-time", { test: isDateTime }],
  ["email", /^[^\s@]+@[^\s@]+$/],
  ["uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ["uri", /^[a-z][a-z0-9+.-]*:\S+$/i],
  ["ipv4", /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/],
  ["hostname", /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i],
]);

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (day === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isTime(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i.test(text);
}

function isDateTime(text: string): boolean {
  const [, date = "", time = ""] = /^([^T ]+)[T ](.+)$/i.exec(text) ?? [];
  return isDate(date) && isTime(time);
}
