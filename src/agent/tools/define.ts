// tool(): defines a built-in tool by one argument schema, from which its JSON Schema and `parse` are derived.
import * as v from "valibot";
import { isObject, tryParse } from "../../json/object.ts";
import { shownValue } from "../../text/one-line.ts";
import { each } from "../../text/words.ts";
import { coerceArguments } from "./lenient-arguments.ts";
import { failure, type Tool } from "./tool.ts";

type ArgumentTable = v.ObjectSchema<v.ObjectEntries, undefined>;

type Definition<Table extends ArgumentTable> = Omit<Tool<v.InferOutput<Table>>, "parameters" | "parse"> & {
  args: Table;
  /** Argument names that models know from other agents, mapped to ours: `{ file_path: "path" }`. */
  spellings?: Record<string, string>;
  /** Converts input of another shape into the one that `args` describes. */
  reshape?(input: Record<string, unknown>): Record<string, unknown>;
};

export function tool<Table extends ArgumentTable>(definition: Definition<Table>): Tool<v.InferOutput<Table>> {
  const { args, spellings, reshape, ...rest } = definition;
  let parameters: object | undefined;
  return {
    ...rest,
    get parameters() {
      return (parameters ??= jsonSchemaOf(args));
    },
    parse(input) {
      const named = coerceArguments(
        renameArguments(parseArgumentObject(input, rest.name), spellings ?? {}),
        args,
      ) as Record<string, unknown>;
      const result = v.safeParse(args, reshape ? coerceArguments(reshape(named), args) : named);
      if (result.success) return result.output;
      throw failure(`${rest.name}: ${result.issues.map(issueSentence).join("; ")}. It takes ${signatureOf(args)}.`);
    },
  };
}

/** Schema of a path argument. Refuses anything that is not a path before it is resolved or permitted. */
export function pathArgument(description?: string) {
  const path = v.pipe(
    v.string(),
    v.check((text) => text !== "", "must not be empty"),
    v.check((text) => !text.includes("\0"), "must not contain a NUL character"),
    v.check((text) => !/^[a-z][a-z0-9+.-]+:\/\//i.test(text), "must be a file path, not a URL"),
  );
  return description === undefined ? path : v.pipe(path, v.description(description));
}

export const pathSpellings = each("file_path filePath target_file directory target_directory", "path");

/** Returns as many lines as fit, and how many were left out. */
export function fittingLines(lines: readonly string[], limit: number): { text: string; left: number } {
  let length = 0;
  for (let shown = 0; shown < lines.length; shown += 1) {
    length += lines[shown]!.length + 1;
    if (length > limit) return { text: lines.slice(0, shown).join("\n"), left: lines.length - shown };
  }
  return { text: lines.join("\n"), left: 0 };
}

/**
 * Converts the few schema kinds that tools use to JSON Schema. Written by hand, because the full converter would be loaded at every start.
 * Checks beyond this are left to `parse`, whose error message the model reads.
 */
// biome-ignore lint/suspicious/noExplicitAny: Valibot's schemas are read by their shape, which has no common type
export function jsonSchemaOf(schema: any): Record<string, unknown> {
  const keywords: Record<string, unknown> = {};
  for (const action of schema.pipe?.slice(1) ?? []) {
    if (action.kind === "schema") Object.assign(keywords, jsonSchemaOf(action));
    if (action.type === "description") keywords["description"] = action.description;
    if (action.type === "integer") keywords["type"] = "integer";
    if (action.type === "min_value") keywords["minimum"] = action.requirement;
  }
  const base = schema.pipe?.[0] ?? schema;
  if (base !== schema) return { ...jsonSchemaOf(base), ...keywords };
  switch (schema.type) {
    case "string":
    case "number":
    case "boolean":
      return { type: schema.type };
    case "picklist":
      return { type: "string", enum: schema.options };
    case "array":
      return { type: "array", items: jsonSchemaOf(schema.item) };
    case "optional":
      return jsonSchemaOf(schema.wrapped);
    case "object": {
      // biome-ignore lint/suspicious/noExplicitAny: Valibot's schemas are read by their shape, which has no common type
      const entries = Object.entries<any>(schema.entries);
      const required = entries.filter(([, entry]) => entry.type !== "optional").map(([key]) => key);
      return {
        type: "object",
        properties: Object.fromEntries(entries.map(([key, entry]) => [key, jsonSchemaOf(entry)])),
        ...(required.length > 0 && { required }),
      };
    }
  }
  throw new Error(`jsonSchemaOf does not know the schema kind "${schema.type}"`);
}

function parseArgumentObject(input: unknown, name: string): Record<string, unknown> {
  if (typeof input === "string") {
    const inside = tryParse(input);
    if (isObject(inside)) return inside;
    throw failure(`${name}: the arguments are not valid JSON. Send them again as one complete JSON object.`);
  }
  if (!isObject(input)) throw failure(`${name}: the arguments must be one JSON object, got ${shownValue(input)}.`);
  return input;
}

function renameArguments(input: Record<string, unknown>, spellings: Record<string, string>): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(withoutNulls(input) as Record<string, unknown>)) {
    const ours = spellings[key] ?? key;
    if (ours === key ? !(key in named) : (input[ours] ?? "") === "") named[ours] = value;
  }
  return named;
}

/** Removes arguments that are null, since some models send null for omitted arguments. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const definedEntries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(definedEntries.map(([key, inner]) => [key, withoutNulls(inner)]));
}

function issueSentence(issue: v.BaseIssue<unknown>): string {
  const at = (issue.path ?? [])
    .map((item) => (typeof item.key === "number" ? `[${item.key}]` : `.${String(item.key)}`))
    .join("")
    .replace(/^\./, "");
  if (issue.kind === "schema" && issue.input === undefined) return `"${at}" is missing`;
  if (issue.type === "check") return `"${at}" ${issue.message}`;
  return `"${at}" must be ${expectationOf(issue)}, got ${shownValue(issue.input)}`;
}

function expectationOf(issue: v.BaseIssue<unknown>): string {
  switch (issue.type) {
    case "integer":
      return "an integer";
    case "min_value":
      return `at least ${issue.expected?.replace(">=", "")}`;
    case "picklist":
      return `one of ${issue.expected?.replace(/[()"]/g, "").replaceAll(" | ", ", ")}`;
    case "array":
    case "object":
      return `an ${issue.type}`;
    default:
      return `a ${issue.type}`;
  }
}

function signatureOf(args: ArgumentTable): string {
  const names = Object.entries(args.entries).map(([key, entry]) => (entry.type === "optional" ? `${key}?` : key));
  return names.length > 0 ? names.join(", ") : "no arguments";
}
