// --json-schema: what the answer must be, told to the model and checked when it comes.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { AnswerCheck } from "../agent/agent.ts";
import { jsonIn } from "../json/find-in-text.ts";
import { valueFault } from "../json/schema.ts";
import { schemaProblem } from "../json/schema-check.ts";
import { UserError } from "../protocol/error-codes.ts";

export type AnswerSchema = AnswerCheck & {
  /** For the system prompt. */
  instruction: string;
};

/** `given`: a file, or the schema itself. A schema that would not be kept to the word stops the run before it begins. */
export function readAnswerSchema(given: string): AnswerSchema {
  const isInline = /^\s*\{/.test(given);
  const name = isInline ? "--json-schema" : `--json-schema ${given}`;
  const schema = parse(isInline ? given : readText(given), name);
  const problem = schemaProblem(schema);
  if (problem) throw new UserError("USAGE", `${name}: ${problem}.`);
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

function readText(file: string): string {
  try {
    return readFileSync(resolve(file), "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UserError(
      "FILE_UNREADABLE",
      `--json-schema ${file}: the file cannot be read: ${(error as Error).message}. A schema can also be given as it is: --json-schema '{"type": "object"}'`,
    );
  }
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError("USAGE", `${name}: this is no JSON: ${(error as Error).message}.`);
  }
}
