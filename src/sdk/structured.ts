// Answers by schema: told to the model, checked when they come, asked for once more when they do not fit.
import { jsonIn } from "../json/find-in-text.ts";
import { isObject } from "../json/object.ts";
import { valueFault } from "../json/schema.ts";
import type { JsonSchemaValue } from "./json-schema-value.ts";

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined };
type Validated<Output> = { value: Output; issues?: undefined } | { issues: readonly Issue[] };

/** What libraries such as Zod, Valibot and ArkType have in common: https://standardschema.dev. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Of libraries that can say what they expect. */
    readonly jsonSchema?: { input(options: { target: string }): object };
  };
}

export type JsonSchema = { readonly [keyword: string]: unknown };
export type AnswerSchema = StandardSchema<any> | JsonSchema;

/** What an answer by this schema is. */
export type DataOf<Schema> =
  Schema extends StandardSchema<infer Output>
    ? Output
    : Schema extends JsonSchema
      ? JsonSchemaValue<Schema>
      : undefined;

export type CheckedAnswer = { data: unknown; fault?: undefined } | { fault: string };

export async function checkAnswer(text: string, schema: AnswerSchema): Promise<CheckedAnswer> {
  let fault: string | undefined;
  for (const value of jsonIn(text)) {
    const checked = await checkValue(value, schema);
    if (checked.fault === undefined) return checked;
    fault ??= checked.fault;
  }
  return { fault: fault ?? "it contains no JSON value" };
}

/** The same for a value that is there already: arguments of a tool. */
export async function checkValue(value: unknown, schema: AnswerSchema): Promise<CheckedAnswer> {
  if (!isStandard(schema)) {
    const fault = valueFault(value, schema, { place: "the value", strict: true });
    return fault === undefined ? { data: value } : { fault };
  }
  const checked = await schema["~standard"].validate(value);
  if (!checked.issues) return { data: checked.value };
  return { fault: checked.issues.map(issueText).join("; ") };
}

export function isStandard(schema: object): schema is StandardSchema {
  return "~standard" in schema && isObject(schema["~standard"]);
}

/**
 * The first value in a text (alone, in a fenced block, or in the midst of words) that fits the schema, which is one of a
 * Standard Schema library or a JSON Schema; without one, the first that there is. Null: there is none.
 */
export function extractJSON<Value = unknown>(text: string): Value | null;
export function extractJSON<Schema extends AnswerSchema>(text: string, schema: Schema): DataOf<Schema> | null;
export function extractJSON(text: string, schema?: AnswerSchema): unknown {
  for (const value of jsonIn(text)) {
    const fitting = schema === undefined ? { value } : fitted(value, schema);
    if (fitting) return fitting.value;
  }
  return null;
}

function fitted(value: unknown, schema: object): { value: unknown } | undefined {
  if (!isStandard(schema)) return valueFault(value, schema, { strict: true }) === undefined ? { value } : undefined;
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    throw new TypeError("extractJSON takes a schema with synchronous validation; this one is asynchronous.");
  }
  return result.issues ? undefined : { value: result.value };
}

/**
 * JSON Schema of what is expected, as `given` or as the library tells it; undefined where it cannot. The name of its dialect
 * is left out: it says nothing to a model, and Claude Code refuses dialects that it does not know.
 */
export function jsonSchemaOf(schema: AnswerSchema, given?: JsonSchema): object | undefined {
  const told = given ?? (isStandard(schema) ? toldBy(schema) : schema);
  if (!told) return undefined;
  const { $schema: _dialect, ...shape } = told as JsonSchema;
  return shape;
}

function toldBy(schema: StandardSchema): object | undefined {
  try {
    return schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // it holds something that JSON Schema has no word for
  }
}

/** `shape`: what the model is told, as JSON Schema. */
export function withSchema(prompt: string, shape: object | undefined): string {
  const which = shape ? ` that fits this JSON Schema:\n${JSON.stringify(shape)}\n` : ". ";
  return `${prompt}\n\nEnd with an answer that is one JSON value${which}Write the JSON alone, without any text around it.`;
}

export function repairPrompt(fault: string): string {
  return `Your answer could not be used: ${fault}. Give the whole answer again.`;
}

function issueText({ message, path = [] }: Issue): string {
  const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
