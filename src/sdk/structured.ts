// Structured answers: describes the schema to the model, checks the answer, and helps to ask again when it does not match.
import { jsonIn } from "../json/find-in-text.ts";
import { isObject } from "../json/object.ts";
import { valueFault } from "../json/schema.ts";
import { tryOr } from "../text/try-or.ts";
import type { JsonSchemaValue } from "./json-schema-value.ts";

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined };
type Validated<Output> = { value: Output; issues?: undefined } | { issues: readonly Issue[] };

/** The interface that libraries such as Zod, Valibot and ArkType share: https://standardschema.dev. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Present in libraries that can convert their schemas to JSON Schema. */
    readonly jsonSchema?: { input(options: { target: string }): object };
  };
}

/** A JSON Schema, as an object. */
export type JsonSchema = { readonly [keyword: string]: unknown };
/** A schema for the answer: of a Standard Schema library, or a JSON Schema. */
// biome-ignore lint/suspicious/noExplicitAny: schemas of any type are taken
export type AnswerSchema = StandardSchema<any> | JsonSchema;

/** The type of an answer that matches this schema. */
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

/** Like `checkAnswer`, but for a parsed value, such as the arguments of a tool. */
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
 * Returns the first JSON value in a text (alone, in a fenced block, or within prose) that matches the schema, which is a
 * Standard Schema or a JSON Schema; without a schema, the first JSON value. Returns null if there is none.
 */
export function extractJSON<Value = unknown>(text: string): Value | null;
export function extractJSON<Schema extends AnswerSchema>(text: string, schema: Schema): DataOf<Schema> | null;
export function extractJSON(text: string, schema?: AnswerSchema): unknown {
  for (const value of jsonIn(text)) {
    const fitting = schema === undefined ? { value } : fitToSchema(value, schema);
    if (fitting) return fitting.value;
  }
  return null;
}

function fitToSchema(value: unknown, schema: object): { value: unknown } | undefined {
  if (!isStandard(schema)) return valueFault(value, schema, { strict: true }) === undefined ? { value } : undefined;
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    throw new TypeError("extractJSON takes a schema with synchronous validation; this one is asynchronous.");
  }
  return result.issues ? undefined : { value: result.value };
}

/**
 * Returns the JSON Schema for `schema`: `given`, or what its library converts it to; undefined if it cannot. Removes
 * `$schema`, since Claude Code refuses dialects that it does not know.
 */
export function jsonSchemaOf(schema: AnswerSchema, given?: JsonSchema): object | undefined {
  const described = given ?? (isStandard(schema) ? inputJsonSchema(schema) : schema);
  if (!described) return undefined;
  const { $schema: _dialect, ...shape } = described as JsonSchema;
  return shape;
}

function inputJsonSchema(schema: StandardSchema): object | undefined {
  // JSON Schema cannot express a part of this schema.
  return tryOr(() => schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" }), undefined);
}

/** Adds a JSON Schema for the answer to the prompt; `shape` is that schema. */
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
