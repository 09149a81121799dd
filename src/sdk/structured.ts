// Answers by schema: told to the model, checked when they come, asked for once more when they do not fit.
import { schemaFault } from "../protocol/argument-schema.ts";
import { isObject, tryParse } from "../protocol/json-object.ts";

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
  Schema extends StandardSchema<infer Output> ? Output : Schema extends JsonSchema ? unknown : undefined;

export type CheckedAnswer = { data: unknown; fault?: undefined } | { fault: string };

export async function checkAnswer(text: string, schema: AnswerSchema): Promise<CheckedAnswer> {
  const found = jsonIn(text);
  if (!found) return { fault: "it holds no JSON value" };
  return checkValue(found.value, schema);
}

/** The same for a value that is there already: arguments of a tool. */
export async function checkValue(value: unknown, schema: AnswerSchema): Promise<CheckedAnswer> {
  if (!isStandard(schema)) {
    const fault = schemaFault(value, schema, "the value");
    return fault === undefined ? { data: value } : { fault };
  }
  const checked = await schema["~standard"].validate(value);
  if (!checked.issues) return { data: checked.value };
  return { fault: checked.issues.map(issueText).join("; ") };
}

export function isStandard(schema: AnswerSchema): schema is StandardSchema {
  return "~standard" in schema && isObject(schema["~standard"]);
}

/** JSON Schema of what is expected; undefined where the library cannot say it. */
export function jsonSchemaOf(schema: AnswerSchema): object | undefined {
  if (!isStandard(schema)) return schema;
  try {
    return schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // it holds something that JSON Schema has no word for
  }
}

export function withSchema(prompt: string, schema: AnswerSchema): string {
  const shape = jsonSchemaOf(schema);
  const which = shape ? ` that fits this JSON Schema:\n${JSON.stringify(shape)}\n` : ". ";
  return `${prompt}\n\nEnd with an answer that is one JSON value${which}Write the JSON alone, without any text around it.`;
}

export function repairPrompt(fault: string, schema: AnswerSchema): string {
  return withSchema(`Your answer could not be used: ${fault}. Give the whole answer again.`, schema);
}

function issueText({ message, path = [] }: Issue): string {
  const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}

/** The answer itself, what stands in its last fence, or the last object or list in it. */
function jsonIn(text: string): { value: unknown } | undefined {
  const whole = tryParse(text.trim());
  if (whole !== undefined) return { value: whole };
  const fence = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].at(-1)?.[1];
  const fenced = fence === undefined ? undefined : tryParse(fence.trim());
  if (fenced !== undefined) return { value: fenced };
  return undefined;
}
