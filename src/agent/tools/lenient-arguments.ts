// What models put into arguments beside what they mean: fillers for what they leave out, and values in quotes. One rule for
// every tool, read from its schema.
import * as v from "valibot";
import { isObject } from "../../json/object.ts";

/** The input as the schema wants it, where that is plain. Everything else stays as it is, and is refused by the schema. */
export function asMeant(value: unknown, schema: any): unknown {
  const type: string = (schema.pipe?.[0] ?? schema).type;
  if (type === "optional") return asMeant(value, schema.wrapped);
  const said = typeof value === "string" ? unquoted(value, type) : value;
  if (type === "array" && Array.isArray(said)) {
    const { item } = schema.pipe?.[0] ?? schema;
    return said.map((each) => asMeant(each, item));
  }
  if (type !== "object" || !isObject(said)) return said;
  const { entries } = schema.pipe?.[0] ?? schema;
  const fields = Object.entries(said).map(([name, given]): [string, unknown] => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (!entry) return [name, given];
    const meant = asMeant(given, entry);
    return [name, entry.type === "optional" && isFiller(meant, entry.wrapped) ? undefined : meant];
  });
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

/** A number, a boolean, a list or an object that came as its text. */
function unquoted(text: string, type: string): unknown {
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
  try {
    const value: unknown = JSON.parse(text);
    return (type === "array" ? Array.isArray(value) : isObject(value)) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Stands in an optional field and says nothing: an empty text always, zero and an empty list where the schema refuses them. */
function isFiller(value: unknown, schema: any): boolean {
  if (value === null || value === undefined || value === "") return true;
  const isEmpty = value === 0 || (Array.isArray(value) && value.length === 0);
  return isEmpty && !v.safeParse(schema, value).success;
}
