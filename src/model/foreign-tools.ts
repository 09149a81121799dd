// Adapts MCP tools to vendors: turns any schema into one that no vendor refuses, with every field kept. A tool that a vendor cannot
// express is left out, without affecting the others.
import { isObject, type JsonObject } from "../json/object.ts";
import { perObject } from "../json/per-object.ts";
import { resolveRef } from "../json/schema.ts";
import { keywordProblem } from "../json/schema-check.ts";
import { wellFormed } from "../json/well-formed.ts";
import { isBlankText } from "../text/blank.ts";
import type { ToolSpec } from "./provider.ts";
import { deepest, listIn, typedSchema } from "./typed-schema.ts";
import type { Vendor } from "./vendors/vendor.ts";

type ToolRules = Pick<Vendor, "argumentNames" | "maxTools" | "maxDescription" | "flatSchemas" | "typedSchemas">;

export type FittedTools = { tools: readonly ToolSpec[]; leftOut: readonly string[] };

/** Adapts tools to what a vendor accepts. `leftOut` has a sentence for each tool that the model does not get. */
export function fitTools(
  tools: readonly ToolSpec[],
  { argumentNames, maxTools = Number.POSITIVE_INFINITY, maxDescription, flatSchemas, typedSchemas }: ToolRules,
): FittedTools {
  const leftOut: string[] = [];
  const fitting = tools.flatMap((tool): ToolSpec[] => {
    if (tool.mcp === undefined && !flatSchemas && !typedSchemas) return [tool];
    const parameters = (flatSchemas ? flat : typedSchemas ? typed : whole)(tool.parameters);
    const odd = argumentNames && Object.keys(parameters["properties"] ?? {}).find((name) => !argumentNames.test(name));
    if (odd === undefined) {
      const { name } = tool;
      const shownDescription = isBlankText(tool.description) ? name : tool.description.slice(0, maxDescription);
      return [{ name, description: wellFormed(shownDescription), parameters }];
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

/** Cached per schema, so that all requests of a conversation contain the same object. */
const whole = perObject((schema: object) => objectSchema(wellFormed(schema) as JsonObject, false));
const flat = perObject((schema: object) => objectSchema(wellFormed(schema) as JsonObject, true));
const typed = perObject((schema: object) => typedSchema(whole(schema)));

/**
 * Vendors require one object at the top, so the fields of all alternatives
 * are merged into it; a call is checked against the server's own schema.
 */
function objectSchema(root: JsonObject, isFlat: boolean): JsonObject {
  const fields = new Map<string, unknown[]>();
  const place: Place = { root, depth: 0, inlined: { count: 0 }, inside: [], isFlat };
  const required = gather(root, fields, place);
  const { description, additionalProperties } = root;
  const definitions = definitionsOf(root);
  const properties = [...fields].map(([name, schemas]): [string, unknown] => {
    const different = [...new Map(schemas.map((each) => [JSON.stringify(each), each])).values()];
    return [name, different.length === 1 ? different[0] : { anyOf: different }];
  });
  const made = {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
  if (isFlat) return made;
  return {
    ...made,
    ...(typeof description === "string" && { description }),
    ...(additionalProperties !== undefined &&
      fields.size === Object.keys(root["properties"] ?? {}).length && {
        additionalProperties:
          typeof additionalProperties === "boolean" ? additionalProperties : cleaned(additionalProperties, place),
      }),
    ...(Object.keys(definitions).length > 0 && { $defs: cleanedByName(definitions, place) }),
  };
}

/** Returns the definitions of a schema. Older drafts have them under another name. */
function definitionsOf(root: JsonObject): JsonObject {
  const kept = (name: string) => (isObject(root[name]) ? root[name] : {});
  return { ...kept("definitions"), ...kept("$defs") };
}

/** A position in a schema: its depth, how many references were expanded, and which references contain it. */
type Place = {
  root: JsonObject;
  depth: number;
  inlined: { count: number };
  inside: readonly string[];
  isFlat: boolean;
};

const maxInlined = 100;

/** Collects the fields of a schema and all its parts into `fields`; returns the names that are always required. */
function gather(schema: unknown, fields: Map<string, unknown[]>, place: Place): string[] {
  if (!isObject(schema) || place.depth > deepest) return [];
  const required = new Set(namesIn(schema["required"]));
  for (const [name, field] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    if (field !== false) fields.set(name, [...(fields.get(name) ?? []), cleaned(field, place)]);
  }
  const inner = (each: unknown) => gather(each, fields, deeper(place));
  const reference = typeof schema["$ref"] === "string" ? [referenceTarget(schema["$ref"], place.root)] : [];
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
/** Obsolete keywords, names of schemas, and remarks about them: vendors need none of them. */
const unwanted = new Set(
  "$schema $id id $anchor $dynamicAnchor $dynamicRef $comment items additionalItems dependencies example examples deprecated readOnly writeOnly".split(
    " ",
  ),
);

/** Converts a schema of any draft to JSON Schema 2020-12, dropping keywords that are invalid there. */
function cleaned(schema: unknown, above: Place): unknown {
  if (!isObject(schema) || above.depth > deepest) return schema === false ? { not: {} } : {};
  const place = deeper(above);
  if (schema["$ref"] !== undefined) return resolveReference(schema, place);
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
  return { ...made, ...convertItems(schema, made, place), ...bounds(schema) };
}

/** Resolves a reference, which stays only if nothing is beside it. Otherwise its target replaces it, unless that contains this position. */
function resolveReference({ $ref: reference, ...rest }: JsonObject, place: Place): unknown {
  if (typeof reference !== "string") return cleaned(rest, place);
  const isAlone = Object.keys(rest).length === 0;
  const isInside = place.inside.includes(reference);
  const isKept = !place.isFlat && (isAlone || isInside) && isDefinition(reference, place.root);
  if (isKept) return { $ref: reference.replace("#/definitions/", "#/$defs/") };
  const target = referenceTarget(reference, place.root);
  const isWritten = isObject(target) && !isInside && target !== place.root && place.inlined.count++ < maxInlined;
  return cleaned(isWritten ? { ...target, ...rest } : rest, { ...place, inside: [...place.inside, reference] });
}

/** Returns the target of a reference. A schema may refer to itself by its own address. */
function referenceTarget(reference: string, root: JsonObject): unknown {
  const address = String(root["$id"] ?? "");
  return resolveRef(root, reference.startsWith(`${address}#`) ? reference.slice(address.length) : reference);
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

/** Converts tuples to `prefixItems`, and adds `items` to arrays, which need it. */
function convertItems(schema: JsonObject, { type, prefixItems }: JsonObject, place: Place): JsonObject {
  const { items, additionalItems } = schema;
  if (Array.isArray(items)) {
    const rest = additionalItems === undefined ? {} : cleaned(additionalItems, place);
    return { ...ifAny("prefixItems", items, place), items: additionalItems === false ? false : rest };
  }
  if (items !== undefined && items !== null) return { items: items === false ? false : cleaned(items, place) };
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array")) || prefixItems !== undefined;
  return isArray ? { items: {} } : {};
}

/** Converts exclusive bounds: draft 4 has a flag beside the bound, later drafts a keyword of its own. */
function bounds(schema: JsonObject): JsonObject {
  return {
    ...(schema["exclusiveMinimum"] === true && { exclusiveMinimum: schema["minimum"] }),
    ...(schema["exclusiveMaximum"] === true && { exclusiveMaximum: schema["maximum"] }),
  };
}

function isDefinition(reference: string, root: JsonObject): boolean {
  return /^#\/(\$defs|definitions)\//.test(reference) && resolveRef(root, reference) !== undefined;
}

function namesIn(value: unknown): string[] {
  return unique(listIn(value)).filter((name) => typeof name === "string");
}

function unique(values: unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
