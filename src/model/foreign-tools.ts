// Adapts MCP tools to vendors: turns any schema into one that no vendor refuses, with every field kept. A tool that a vendor cannot
// express is left out, without affecting the others.
import { isObject, type JsonObject } from "../json/object.ts";
import { resolveRef } from "../json/schema.ts";
import { keywordProblem } from "../json/schema-check.ts";
import { isBlankText } from "../text/blank.ts";
import type { ToolSpec } from "./provider.ts";
import type { Vendor } from "./vendors/vendor.ts";

export type FittedTools = { tools: readonly ToolSpec[]; leftOut: readonly string[] };

/** `leftOut` has a sentence for each tool that the model does not get. */
export function fitTools(
  tools: readonly ToolSpec[],
  { argumentNames, maxTools = Number.POSITIVE_INFINITY }: Pick<Vendor, "argumentNames" | "maxTools">,
): FittedTools {
  const leftOut: string[] = [];
  const fitting = tools.flatMap((tool): ToolSpec[] => {
    if (tool.mcp === undefined) return [tool];
    const parameters = fittedSchema(tool.parameters);
    const odd = argumentNames && Object.keys(parameters["properties"] ?? {}).find((name) => !argumentNames.test(name));
    if (odd === undefined) {
      const { name } = tool;
      return [{ name, description: isBlankText(tool.description) ? name : tool.description, parameters }];
    }
    leftOut.push(
      `The model is not told of the tool ${tool.name}: its vendor takes no argument named ${JSON.stringify(odd)}.`,
    );
    return [];
  });
  for (const { name } of fitting.slice(maxTools))
    leftOut.push(`The model is not told of the tool ${name}: its vendor takes no more than ${maxTools} tools.`);
  return { tools: fitting.slice(0, maxTools), leftOut };
}

/** Caches results, so that requests of one conversation contain the same schema. */
const fitted = new WeakMap<object, JsonObject>();

function fittedSchema(schema: object): JsonObject {
  const known = fitted.get(schema);
  if (known) return known;
  const made = objectSchema(schema as JsonObject);
  fitted.set(schema, made);
  return made;
}

/**
 * Vendors require one object at the top, so the fields of all alternatives
 * are merged into it; a call is checked against the server's own schema.
 */
function objectSchema(root: JsonObject): JsonObject {
  const fields = new Map<string, unknown[]>();
  const place: Place = { root, depth: 0, inlined: { count: 0 } };
  const required = gather(root, fields, place);
  const { description, additionalProperties } = root;
  const definitions = ["$defs", "definitions"].filter((name) => isObject(root[name]));
  const properties = [...fields].map(([name, schemas]): [string, unknown] => {
    const different = [...new Map(schemas.map((each) => [JSON.stringify(each), each])).values()];
    return [name, different.length === 1 ? different[0] : { anyOf: different }];
  });
  return {
    type: "object",
    ...(typeof description === "string" && { description }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(additionalProperties !== undefined &&
      fields.size === Object.keys(root["properties"] ?? {}).length && {
        additionalProperties: cleaned(additionalProperties, place),
      }),
    ...Object.fromEntries(definitions.map((name) => [name, cleanedByName(root[name] as JsonObject, place)])),
  };
}

/** The schema and depth, and how often a reference was replaced by its target. */
type Place = { root: JsonObject; depth: number; inlined: { count: number } };

const deepest = 60;
const maxInlined = 100;

/** Collects the fields of a schema and all its parts into `fields`; returns the names that are always required. */
function gather(schema: unknown, fields: Map<string, unknown[]>, place: Place): string[] {
  if (!isObject(schema) || place.depth > deepest) return [];
  const required = new Set(namesIn(schema["required"]));
  for (const [name, field] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    if (field !== false) fields.set(name, [...(fields.get(name) ?? []), cleaned(field, place)]);
  }
  const inner = (each: unknown) => gather(each, fields, deeper(place));
  const reference = typeof schema["$ref"] === "string" ? [resolveRef(place.root, schema["$ref"])] : [];
  for (const part of [...reference, ...listIn(schema["allOf"])]) for (const name of inner(part)) required.add(name);
  for (const alternatives of [listIn(schema["anyOf"]), listIn(schema["oneOf"])]) {
    const named = alternatives.map(inner);
    for (const name of named[0] ?? []) if (named.every((names) => names.includes(name))) required.add(name);
  }
  for (const part of ["if", "then", "else"]) inner(schema[part]);
  for (const name of required) if (!fields.has(name)) fields.set(name, [{}]);
  return [...required];
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const holdsSchema = new Set(["additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"]);
const holdsList = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const holdsNamed = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Obsolete keywords, and those that only say where a schema is from: vendors need none of them. */
const unwanted = new Set(["$schema", "$id", "$comment", "items", "additionalItems", "dependencies", "example"]);

/** Converts a schema of any draft to JSON Schema 2020-12, dropping keywords that are invalid there. */
function cleaned(schema: unknown, above: Place): unknown {
  if (!isObject(schema) || above.depth > deepest) return schema === false ? { not: {} } : {};
  const place = deeper(above);
  const reference = schema["$ref"];
  if (reference !== undefined && !(typeof reference === "string" && isDefinition(reference, place.root))) {
    // The target of the reference may have moved here, or be missing.
    const { $ref: _elsewhere, ...rest } = schema;
    const target = typeof reference === "string" ? resolveRef(place.root, reference) : undefined;
    const isWritten = isObject(target) && target !== place.root && place.inlined.count++ < maxInlined;
    return cleaned(isWritten ? { ...target, ...rest } : rest, place);
  }
  const made: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (holdsSchema.has(keyword)) made[keyword] = typeof value === "boolean" ? value : cleaned(value, place);
    else if (holdsList.has(keyword)) Object.assign(made, ifAny(keyword, listIn(value), place));
    else if (holdsNamed.has(keyword))
      Object.assign(made, isObject(value) && { [keyword]: cleanedByName(value, place) });
    else if (keyword === "required") Object.assign(made, Array.isArray(value) && { required: namesIn(value) });
    else if (keyword === "enum") Object.assign(made, listIn(value).length > 0 && { enum: unique(listIn(value)) });
    else if (keyword === "type") Object.assign(made, typeIn(value));
    else if (!unwanted.has(keyword) && isSaid(keyword, value, place.root)) made[keyword] = value;
  }
  return { ...made, ...itemsOf(schema, made, place), ...bounds(schema) };
}

/** Titles and descriptions must be strings, and some servers write null for missing values. */
function isSaid(keyword: string, value: unknown, root: JsonObject): boolean {
  if (keyword === "title" || keyword === "description") return typeof value === "string";
  if (value === null) return keyword === "default" || keyword === "const";
  return keywordProblem(keyword, value, root) === undefined;
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function ifAny(keyword: string, list: unknown[], place: Place): JsonObject {
  return list.length > 0 ? { [keyword]: list.map((each) => cleaned(each, place)) } : {};
}

function cleanedByName(schemas: JsonObject, place: Place): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, cleaned(schema, place)]));
}

const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

function typeIn(value: unknown): JsonObject {
  const known = unique(Array.isArray(value) ? value : [value]).filter((type) => types.includes(type as string));
  if (known.length === 0) return {};
  return { type: known.length === 1 ? known[0] : known };
}

/** A tuple is now `prefixItems`, and an array needs `items`. */
function itemsOf(schema: JsonObject, { type, prefixItems }: JsonObject, place: Place): JsonObject {
  const { items, additionalItems } = schema;
  if (Array.isArray(items)) {
    const rest = additionalItems === undefined ? {} : cleaned(additionalItems, place);
    return { ...ifAny("prefixItems", items, place), items: additionalItems === false ? false : rest };
  }
  if (items !== undefined && items !== null) return { items: items === false ? false : cleaned(items, place) };
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array")) || prefixItems !== undefined;
  return isArray ? { items: {} } : {};
}

/** In draft 4 a flag excludes the bound itself; now the excluded bound has its own keyword. */
function bounds(schema: JsonObject): JsonObject {
  return {
    ...(schema["exclusiveMinimum"] === true && { exclusiveMinimum: schema["minimum"] }),
    ...(schema["exclusiveMaximum"] === true && { exclusiveMaximum: schema["maximum"] }),
  };
}

function isDefinition(reference: string, root: JsonObject): boolean {
  return /^#\/(\$defs|definitions)\//.test(reference) && resolveRef(root, reference) !== undefined;
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function namesIn(value: unknown): string[] {
  return unique(listIn(value)).filter((name) => typeof name === "string");
}

function unique(values: unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
