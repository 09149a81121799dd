// Maps the lines tool_call/started and tool_call/completed to their events and back.

import { compareObject, type Row, type Table, writeObject } from "../json/key-table.ts";
import { isObject, type JsonObject, setUntrustedKey, tryParse } from "../json/object.ts";
import {
  clock,
  constantField,
  field,
  type LineKind,
  millisecondsOf,
  type Of,
  session,
  time,
  withTime,
} from "./line-rows.ts";
import { keyOfTool, outcomeOf, toolKeyOf, toolOfKey } from "./tool-calls.ts";

type Call = Of<"tool_start"> | Of<"tool_end">;

/** The fields below the key that names the tool. */
const startedTool: Table<Of<"tool_start">> = {
  rows: [field("args", "args", "given"), field("description", "description", "given")],
};
const completedTool: Table<Of<"tool_end">> = {
  rows: [field("args", "args", "given"), resultRow(), field("description", "description", "given")],
};

function resultRow(): Row<Of<"tool_end">> {
  return {
    key: "result",
    when: "given",
    holds(value, { outcome }) {
      if (!outcome) return false;
      const keys = Object.keys(value as JsonObject);
      return keys[0] === outcome.kind ? true : { keys };
    },
    write({ outcome }, _scope, carried) {
      if (!outcome) return undefined;
      const object: JsonObject = {};
      for (const key of carried?.keys ?? [outcome.kind, ...Object.keys(outcome.siblings ?? {})]) {
        setUntrustedKey(object, key, key === outcome.kind ? outcome.value : outcome.siblings?.[key]);
      }
      return object;
    },
  };
}

/** The fields of `tool_call`. The key that names the tool comes first, for programs that take the first key. */
const startedCall: Table<Of<"tool_start">> = {
  rows: [toolRow(startedTool), hookContextsRow(), callIdRow(), clock("startedAtMs", "startedAt")],
};
const completedCall: Table<Of<"tool_end">> = {
  rows: [
    toolRow(completedTool),
    hookContextsRow(),
    callIdRow(),
    clock("startedAtMs", "startedAt"),
    clock("completedAtMs", "completedAt"),
  ],
};

function toolRow<Event extends Call>(table: Table<Event>): Row<Event> {
  return {
    key: "",
    when: "always",
    holds: (value, event, scope) => compareObject(value as JsonObject, { table, event, scope }) ?? true,
    write: (event, scope, carried) => writeObject({ table, event, scope }, carried),
  };
}

/** Always present and empty, as in every observed stream; a list with content goes into `carried`. */
function hookContextsRow<Event extends Call>(): Row<Event> {
  return {
    key: "hookAdditionalContexts",
    when: "always",
    holds: (value) => Array.isArray(value) && value.length === 0,
    write: (_event, scope) => (scope.callSiblings === false ? undefined : []),
  };
}

function callIdRow<Event extends Call>(): Row<Event> {
  return {
    key: "toolCallId",
    when: "always",
    holds: (value, event) => value === event.callId,
    write: (event, scope) => (scope.callSiblings === false ? undefined : event.callId),
  };
}

function callRow<Event extends Call>(table: Table<Event>): Row<Event> {
  return {
    key: "tool_call",
    when: "always",
    holds(value, event, scope) {
      const name = toolKeyOf(value as JsonObject);
      // Keep the whole value if it has no tool key, since the event contains only the parts that are understood.
      return name !== undefined && (compareObject(value as JsonObject, { table, event, scope, name }) ?? true);
    },
    write: (event, scope, carried) => writeObject({ table, event, scope, name: keyOfTool(event.tool) }, carried),
  };
}

function callRows<Event extends Call>(subtype: string, table: Table<Event>): Row<Event>[] {
  return [
    constantField("type", "tool_call"),
    constantField("subtype", subtype),
    field("call_id", "callId"),
    callRow(table),
    field("model_call_id", "modelCallId", "given"),
    session(),
    time("given"),
  ];
}

export const toolStart: LineKind<Of<"tool_start">> = {
  start(line) {
    const call = line.tool_call;
    if (typeof line.call_id !== "string" || !isObject(call)) return undefined;
    const { tool, args, description } = toolInLine(call);
    const event: Of<"tool_start"> = { type: "tool_start", callId: line.call_id, tool, args };
    if (description !== undefined) event.description = description;
    return withTimes(event, line, call);
  },
  rows: callRows("started", startedCall),
};

export const toolEnd: LineKind<Of<"tool_end">> = {
  start(line) {
    const call = line.tool_call;
    if (typeof line.call_id !== "string" || !isObject(call)) return undefined;
    const { tool, args, result, description } = toolInLine(call);
    const event: Of<"tool_end"> = { type: "tool_end", callId: line.call_id, tool, args };
    if (description !== undefined) event.description = description;
    const outcome = outcomeOf(result);
    if (outcome) event.outcome = outcome;
    const completedAt = millisecondsOf(call.completedAtMs);
    if (completedAt !== undefined) event.completedAt = completedAt;
    return withTimes(event, line, call);
  },
  rows: callRows("completed", completedCall),
};

function withTimes<Event extends Call>(event: Event, line: JsonObject, call: JsonObject): Event {
  if (typeof line.model_call_id === "string") event.modelCallId = line.model_call_id;
  const startedAt = millisecondsOf(call.startedAtMs);
  if (startedAt !== undefined) event.startedAt = startedAt;
  return withTime(event, line);
}

type Tool = { tool: string; args: unknown; result: unknown; description?: string };

function toolInLine(call: JsonObject): Tool {
  const key = toolKeyOf(call);
  if (key === undefined) return foreignToolOf(call);
  const { args, result, description } = call[key] as JsonObject;
  const tool: Tool = { tool: toolOfKey(key), args, result };
  if (typeof description === "string") tool.description = description;
  return tool;
}

/** Reads `function{name, arguments}`, `{name, args}` and `{id, name, input}` on a best-effort basis. */
function foreignToolOf(call: JsonObject): Tool {
  const functionFields = isObject(call.function) ? call.function : call;
  const args = functionFields.arguments ?? functionFields.args ?? functionFields.input;
  return {
    tool: typeof functionFields.name === "string" ? functionFields.name : "unknown",
    args: typeof args === "string" ? (tryParse(args) ?? args) : args,
    result: functionFields.result ?? call.result,
  };
}
