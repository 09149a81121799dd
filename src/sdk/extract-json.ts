// extractJSON: the JSON in an answer, checked by a schema where one is given.
import { jsonIn } from "../json/find-in-text.ts";
import { valueFault } from "../json/schema.ts";
import { type AnswerSchema, type DataOf, isStandard } from "./structured.ts";

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
    throw new TypeError("extractJSON takes a schema that checks at once; this one checks asynchronously.");
  }
  return result.issues ? undefined : { value: result.value };
}
