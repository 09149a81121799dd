// The schema with which Harbor reads this CLI's stream, line by line. It drops lines that do not match.
import { type Check, type FieldTable, flag, listOf, number, object, oneOf, text } from "../../json/checks.ts";
import { isObject, type JsonObject } from "../../json/object.ts";
import type { Rule } from "./rules.ts";
import type { Line, Trial } from "./trials.ts";

const integer: Check = (value) => (Number.isInteger(value) ? undefined : "must be an integer");
/** Creates a check that also accepts null and a missing value. */
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null ? undefined : check(value);
/** Creates a check for the fields of an object; other fields are ignored. */
const fields =
  (table: FieldTable): Check =>
  (value) =>
    isObject(value) && wrongFields(table, value).length === 0 ? undefined : "must have its fields";

const message = fields({
  role: oneOf("user", "assistant"),
  content: listOf(fields({ type: oneOf("text"), text })),
});
const usage = fields({
  inputTokens: integer,
  outputTokens: integer,
  cacheReadTokens: integer,
  cacheWriteTokens: integer,
  totalCost: maybe(number),
  cost: maybe(number),
});

/** The fields that lines of each type must have. */
const schema: Record<string, FieldTable> = {
  system: {
    subtype: oneOf("init"),
    apiKeySource: oneOf("env", "flag", "login"),
    cwd: text,
    session_id: text,
    model: text,
    permissionMode: text,
  },
  user: { message, session_id: text },
  assistant: { message, session_id: text, model_call_id: maybe(text), timestamp_ms: maybe(integer) },
  thinking: { subtype: oneOf("delta", "completed"), text: maybe(text), session_id: text, timestamp_ms: integer },
  tool_call: {
    subtype: oneOf("started", "completed"),
    call_id: text,
    tool_call: object,
    session_id: text,
    model_call_id: text,
    timestamp_ms: integer,
  },
  result: {
    subtype: text,
    duration_ms: integer,
    duration_api_ms: integer,
    is_error: flag,
    result: text,
    usage: maybe(usage),
    session_id: text,
    request_id: maybe(text),
  },
  interaction_query: {
    subtype: maybe(text),
    query_type: maybe(text),
    session_id: text,
    timestamp_ms: maybe(integer),
    query: maybe(object),
    response: maybe(object),
  },
};

function lineFault({ number: at, value, text: line }: Line): string | undefined {
  const table = schema[String(value?.["type"])];
  if (!value || !table) return `line ${at} is of no known type: ${line.slice(0, 200)}`;
  const wrong = wrongFields(table, value);
  return wrong.length === 0 ? undefined : `line ${at}: ${wrong.join(", ")}: ${line.slice(0, 200)}`;
}

function wrongFields(table: FieldTable, value: JsonObject): string[] {
  return Object.keys(table).filter((name) => table[name]!(value[name]) !== undefined);
}

const linesOf = (type: string) => (trial: Trial) => {
  const lines = trial.lines.filter(({ value }) =>
    type === "" ? !value || !schema[String(value["type"])] : value?.["type"] === type,
  );
  return lines.map(lineFault).find((fault) => fault !== undefined);
};

/** Harbor takes the first key with an object as the tool, so reports any other key that has an object. */
function siblingFault(trial: Trial): string | undefined {
  for (const { number: at, value } of trial.lines) {
    const call: JsonObject = isObject(value?.["tool_call"]) ? value["tool_call"] : {};
    const objects = Object.keys(call).filter((key) => isObject(call[key]));
    if (objects.length > 1) return `line ${at}: ${objects.join(", ")}`;
  }
  return undefined;
}

const trial = "harbor" as const;
const fits = (type: string, what: string): Rule => ({
  id: `harbor.${type}`,
  statement: `Harbor: every ${what} has the fields of its model, in their types.`,
  trial,
  check: linesOf(type),
});

export const harborRules: readonly Rule[] = [
  {
    id: "harbor.starts",
    statement: "Harbor: --yolo --print --output-format=stream-json -- <instruction> runs to its end with exit code 0.",
    trial,
    check: ({ exit, timedOut, stderr }) =>
      exit === 0 && !timedOut ? undefined : `exit code ${exit}; ${stderr.trim().slice(0, 200)}`,
  },
  { id: "harbor.types", statement: "Harbor: every line is of a type that it knows.", trial, check: linesOf("") },
  fits("system", "system line is an init, with an apiKeySource of env, flag or login, and"),
  fits("user", "user line"),
  fits("assistant", "assistant line"),
  fits("thinking", "thinking line"),
  fits("tool_call", "tool_call line"),
  {
    id: "harbor.one-tool",
    statement: "Harbor: beside the tool, nothing in a tool_call is an object.",
    trial,
    check: siblingFault,
  },
  fits("result", "result"),
  fits("interaction_query", "interaction_query"),
];
