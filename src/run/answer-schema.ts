// Structured output: the instruction that asks for JSON of a schema, and the check of the answer.
import type { AnswerCheck } from "../agent/agent.ts";
import { jsonIn } from "../json/find-in-text.ts";
import { valueFault } from "../json/schema.ts";
import { schemaProblem } from "../json/schema-check.ts";
import { usageError } from "../protocol/error-codes.ts";

export type AnswerSchema = AnswerCheck & {
  /** Text that is appended to the system prompt. */
  instruction: string;
};

/** Prepares the check of answers against a JSON Schema. Throws a UserError if the schema uses something that cannot be enforced. */
export function answerSchema(schema: unknown): AnswerSchema {
  const problem = schemaProblem(schema);
  if (problem) throw usageError(`--json-schema: ${problem}.`);
  return {
    repairs: 1,
    instruction: `The last message of your answer must be one JSON value that fits the JSON Schema below, and nothing else: no words around it, no code fence.\n\n${JSON.stringify(schema)}`,
    check(text) {
      let fault: string | undefined;
      for (const value of jsonIn(text)) {
        const found = valueFault(value, schema, { place: "answer", strict: true });
        if (found === undefined) return { value };
        fault ??= found;
      }
      return { fault: fault ?? "there is no JSON in it" };
    },
  };
}
