// Arguments against the JSON Schema of their tool: the part of JSON Schema that tools use, and nothing is guessed.
import { isObject, type JsonObject } from "./json-object.ts";

/** What is wrong, as a sentence with the place in it. Undefined: the value fits. Keywords unknown here do not restrict. */
export function schemaFault(value: unknown, schema: unknown, place = "arguments"): string | undefined {
  if (schema === false) return `${place} is not allowed`;
  if (!isObject(schema)) return undefined;
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return `${place} must be ${types.join(" or ")}`;
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => sameJson(choice, value))) {
    return `${place} must be one of ${JSON.stringify(schema.enum)}`;
  }
  if ("const" in schema && !sameJson(schema.const, value)) return `${place} must be ${JSON.stringify(schema.const)}`;
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((choice) => schemaFault(value, choice, place) === undefined)) {
    return `${place} fits none of its alternatives`;
  }
  if (typeof value === "string") return lengthFault(value.length, schema.minLength, schema.maxLength, place);
  if (typeof value === "number") return rangeFault(value, schema, place);
  if (Array.isArray(value)) return arrayFault(value, schema, place);
  return isObject(value) ? objectFault(value, schema, place) : undefined;
}

function objectFault(value: JsonObject, schema: JsonObject, place: string): string | undefined {
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const key of required) {
    if (typeof key === "string" && !Object.hasOwn(value, key)) return `${place}.${key} is missing`;
  }
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key);
    const fault = schemaFault(item, known ? properties[key] : schema.additionalProperties, `${place}.${key}`);
    if (fault) return fault;
  }
  return undefined;
}

function arrayFault(value: unknown[], schema: JsonObject, place: string): string | undefined {
  for (let index = 0; index < value.length; index++) {
    const fault = schemaFault(value[index], schema.items, `${place}[${index}]`);
    if (fault) return fault;
  }
  return lengthFault(value.length, schema.minItems, schema.maxItems, place);
}

function lengthFault(length: number, least: unknown, most: unknown, place: string): string | undefined {
  if (typeof least === "number" && length < least) return `${place} is shorter than ${least}`;
  if (typeof most === "number" && length > most) return `${place} is longer than ${most}`;
  return undefined;
}

function rangeFault(value: number, schema: JsonObject, place: string): string | undefined {
  if (typeof schema.minimum === "number" && value < schema.minimum) return `${place} is less than ${schema.minimum}`;
  if (typeof schema.maximum === "number" && value > schema.maximum) return `${place} is more than ${schema.maximum}`;
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
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
