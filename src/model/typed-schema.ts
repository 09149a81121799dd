// The subset of JSON Schema that Moonshot's API takes (https://github.com/MoonshotAI/walle): every schema has exactly one type,
// alternatives, or a reference.
import { isObject, type JsonObject } from "../json/object.ts";
import { resolveRef } from "../json/schema.ts";

/** Converts a JSON Schema (2020-12, an object at the top) so that every schema in it has a type. */
export function typedSchema(root: JsonObject): JsonObject {
  const definitions = root["$defs"];
  const place = { root, depth: 0 };
  return { ...typed(root, place), ...(isObject(definitions) && { $defs: typedByName(definitions, place) }) };
}

type Place = { root: JsonObject; depth: number };

/** The maximum depth, since definitions may include each other endlessly. */
export const deepest = 60;

const mostAlternatives = 10;
const everyType = ["string", "number", "boolean", "object", "array", "null"];

function typed(schema: unknown, above: Place): JsonObject {
  if (above.depth > deepest) return { type: "object" };
  if (!isObject(schema)) return typed({}, above);
  const place = { ...above, depth: above.depth + 1 };
  const { $ref: reference, allOf, anyOf, oneOf, description, ...rest } = schema;
  if (typeof reference === "string") return { $ref: reference };
  const descriptionField = typeof description === "string" ? { description } : {};
  const parts = listIn(allOf);
  if (parts.length > 0) {
    const only = parts.length === 1 && isObject(parts[0]) && Object.keys(rest).length === 0 ? parts[0] : undefined;
    const whole = only ?? parts.reduce<JsonObject>((sum, part) => joined(sum, resolved(part, place)), rest);
    return typed(
      { ...whole, ...(anyOf !== undefined && { anyOf }), ...(oneOf !== undefined && { oneOf }), ...descriptionField },
      place,
    );
  }
  const alternatives = [...listIn(anyOf), ...listIn(oneOf)].map((each) => joined(rest, isObject(each) ? each : {}));
  const types = typesOf(rest);
  if (alternatives.length === 0 && types.length === 1)
    return { ...ofType(types[0]!, rest, place), ...descriptionField };
  const either = alternatives.length > 0 ? alternatives : types.map((type) => ({ ...rest, type }));
  return { anyOf: either.slice(0, mostAlternatives).map((each) => typed(each, place)), ...descriptionField };
}

/** Returns the types that values may have. A schema without `type` gets the types that its other keywords apply to. */
function typesOf({ type, enum: values, const: only, properties, additionalProperties, ...rest }: JsonObject): string[] {
  if (type !== undefined) return (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
  const known = only !== undefined ? [only] : listIn(values);
  if (known.length > 0) return [...new Set(known.map(schemaTypeOf))];
  if (properties !== undefined || additionalProperties !== undefined || rest["required"] !== undefined)
    return ["object"];
  return rest["items"] !== undefined || rest["prefixItems"] !== undefined ? ["array"] : everyType;
}

function schemaTypeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function ofType(type: string, schema: JsonObject, place: Place): JsonObject {
  if (type === "object") return ofObject(schema, place);
  if (type === "array") return ofArray(schema, place);
  const isOfType = (value: unknown) => schemaTypeOf(value) === (type === "integer" ? "number" : type);
  const listed = (schema["const"] !== undefined ? [schema["const"]] : listIn(schema["enum"])).filter(isOfType);
  const isListed = listed.length > 0 && type !== "boolean" && type !== "null";
  return {
    type,
    ...(isListed && { enum: listed }),
    ...(isOfType(schema["default"]) && { default: schema["default"] }),
  };
}

function ofObject({ properties, required, additionalProperties }: JsonObject, place: Place): JsonObject {
  const fields = isObject(properties) ? typedByName(properties, place) : {};
  const names = listIn(required).filter((name) => typeof name === "string" && Object.hasOwn(fields, name));
  const isOpen = !isObject(additionalProperties) || Object.keys(additionalProperties).length === 0;
  return {
    type: "object",
    ...(isObject(properties) && { properties: fields }),
    ...(names.length > 0 && { required: names }),
    ...(additionalProperties === false && { additionalProperties }),
    ...(!isOpen && { additionalProperties: typed(additionalProperties, place) }),
  };
}

/** Converts an array. A tuple becomes an array of any of its items, since other servers require `items`. */
function ofArray({ items, prefixItems }: JsonObject, place: Place): JsonObject {
  const isSaid = isObject(items) && Object.keys(items).length > 0;
  const each = [...listIn(prefixItems), ...(isSaid ? [items] : [])];
  if (each.length === 0) each.push({ type: everyType.filter((type) => type !== "array") });
  return { type: "array", items: typed(each.length === 1 ? each[0] : { anyOf: each }, place) };
}

function joined(schema: JsonObject, more: JsonObject): JsonObject {
  const fields = isObject(schema["properties"]) && isObject(more["properties"]);
  return {
    ...schema,
    ...more,
    ...(fields && { properties: { ...(schema["properties"] as object), ...(more["properties"] as object) } }),
    ...(schema["required"] !== undefined && { required: [...listIn(schema["required"]), ...listIn(more["required"])] }),
  };
}

function resolved(part: unknown, place: Place): JsonObject {
  if (!isObject(part)) return {};
  const target = typeof part["$ref"] === "string" ? resolveRef(place.root, part["$ref"]) : part;
  return isObject(target) ? target : {};
}

function typedByName(schemas: JsonObject, place: Place): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, typed(schema, place)]));
}

export function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
