// Cleans up tool arguments from models: drops filler values of optional fields and unquotes values. One
// rule for every tool, driven by its schema.
import * as v from "valibot";
import { isObject, tryParse } from "../../json/object.ts";

/** Converts the input to what the schema expects where that is unambiguous; the schema refuses the rest. */
// biome-ignore lint/suspicious/noExplicitAny: Valibot's schemas are read by their shape, which has no common type
export function coerceArguments(value: unknown, schema: any): unknown {
  const type: string = (schema.pipe?.[0] ?? schema).type;
  if (type === "optional") return coerceArguments(value, schema.wrapped);
  const parsedValue = typeof value === "string" ? parseQuoted(value, type) : value;
  if (type === "array" && Array.isArray(parsedValue)) {
    const { item } = schema.pipe?.[0] ?? schema;
    return parsedValue.map((each) => coerceArguments(each, item));
  }
  if (type !== "object" || !isObject(parsedValue)) return parsedValue;
  const { entries } = schema.pipe?.[0] ?? schema;
  const fields = Object.entries(parsedValue).map(([name, given]): [string, unknown] => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (!entry) return [name, given];
    const meant = coerceArguments(given, entry);
    return [name, entry.type === "optional" && isFiller(meant, entry.wrapped) ? undefined : meant];
  });
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

/** Parses a number, boolean, list or object that was sent as a string. */
function parseQuoted(text: string, type: string): unknown {
  const trimmed = text.trim();
  switch (type) {
    case "number":
      return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
    case "boolean":
      return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() === "true" : text;
    case "array":
    case "object":
      return parsed(trimmed, type) ?? text;
    default:
      return text;
  }
}

function parsed(text: string, type: "array" | "object"): unknown {
  const value = tryParse(text);
  return (type === "array" ? Array.isArray(value) : isObject(value)) ? value : undefined;
}

/** Detects a filler in an optional field: always null or empty text, and zero or an empty list if the schema refuses them. */
// biome-ignore lint/suspicious/noExplicitAny: Valibot's schemas are read by their shape, which has no common type
function isFiller(value: unknown, schema: any): boolean {
  if (value === null || value === undefined || value === "") return true;
  const isEmpty = value === 0 || (Array.isArray(value) && value.length === 0);
  return isEmpty && !v.safeParse(schema, value).success;
}
