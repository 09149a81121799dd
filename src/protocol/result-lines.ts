// Maps the lines result/success and result/error to their events and back.

import type { Row } from "../json/key-table.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import type { BackgroundWork, BudgetUse, Ending, MissingServer, Usage } from "./event.ts";
import { constantField, field, type LineKind, type Of, session, time, withTime } from "./line-rows.ts";

const areNotices = areAll<NonNullable<Ending["notices"]>[number]>("kind", "message");
type DenialLine = { tool: string; call_id: string; reason: string; rule?: string; file?: string };
const areDenials = areAll<DenialLine>("tool", "call_id", "reason", "rule?", "file?");
const areMissing = areAll<MissingServer>("name", "status", "problem?");
const areTasks = areAll<BackgroundWork>("id", "command", "status", "exit_code?");

function resultRows<Event extends Ending & { at?: number }>(subtype: string, own: Row<Event>[]): Row<Event>[] {
  return [
    constantField("type", "result"),
    constantField("subtype", subtype),
    field("duration_ms", "durationMs"),
    field("duration_api_ms", "apiDurationMs"),
    constantField("is_error", subtype === "error"),
    ...own,
    session(),
    field("request_id", "requestId", "given"),
    {
      key: "usage",
      when: "given",
      holds: (value, event) => event.usage === value,
      write: ({ usage }, { extensions }) => (extensions === false ? tokenCounts(usage) : usage),
    },
    {
      key: "permission_denials",
      when: "given",
      holds: areDenials,
      write({ denials }) {
        if (!denials || denials.length === 0) return undefined;
        return denials.map(({ callId, tool, ...why }) => ({ tool, call_id: callId, ...why }));
      },
    },
    extension("background", "background", areTasks),
    extension("missing_mcp_servers", "missingServers", areMissing),
    extension("budget", "budget", isBudget),
    { key: "notices", when: "given", holds: areNotices, write: ({ notices }) => notices },
    field("total_cost_usd", "costUsd", "given"),
    time("foreign"),
  ];
}

/** Creates the row of a field that older versions do not have. */
function extension<Event>(key: string, property: keyof Event & string, holds: (value: unknown) => boolean): Row<Event> {
  return {
    key,
    when: "given",
    holds,
    write: (event, { extensions }) => (extensions === false ? undefined : event[property]),
  };
}

export const done: LineKind<Of<"done">> = {
  start(line) {
    if (typeof line.result !== "string") return undefined;
    const event: Of<"done"> = { type: "done", text: line.result, ...parseEnding(line) };
    if (line.structured_output !== undefined) event.structured = line.structured_output;
    return withTime(event, line);
  },
  rows: resultRows("success", [field("result", "text"), field("structured_output", "structured", "given")]),
};

export const fail: LineKind<Of<"fail">> = {
  start(line) {
    if (typeof line.result !== "string") return undefined;
    const event: Of<"fail"> = { type: "fail", message: line.result, ...parseEnding(line) };
    if (typeof line.error_code === "string") event.code = line.error_code;
    if (typeof line.answer === "string") event.answer = line.answer;
    if (line.structured_output !== undefined) event.structured = line.structured_output;
    return withTime(event, line);
  },
  rows: resultRows("error", [
    field("result", "message"),
    field("error_code", "code", "given"),
    extension("answer", "answer", (value) => typeof value === "string"),
    field("structured_output", "structured", "given"),
  ]),
};

/** A missing API duration is taken to equal the whole duration, as in every observed stream. */
function parseEnding(line: JsonObject): Ending {
  const durationMs = typeof line.duration_ms === "number" ? line.duration_ms : 0;
  const apiDurationMs = typeof line.duration_api_ms === "number" ? line.duration_api_ms : durationMs;
  const ending: Ending = { durationMs, apiDurationMs };
  if (typeof line.request_id === "string") ending.requestId = line.request_id;
  const usage = parseUsage(line.usage);
  if (usage) ending.usage = usage;
  if (typeof line.total_cost_usd === "number") ending.costUsd = line.total_cost_usd;
  if (areNotices(line.notices)) ending.notices = line.notices;
  if (areDenials(line.permission_denials))
    ending.denials = line.permission_denials.map(({ tool, call_id, ...why }) => ({ tool, callId: call_id, ...why }));
  if (areTasks(line.background)) ending.background = line.background;
  if (areMissing(line.missing_mcp_servers)) ending.missingServers = line.missing_mcp_servers;
  if (isBudget(line.budget)) ending.budget = line.budget;
  return ending;
}

/** Returns the object itself if it has all counts, or a completed copy if it has some. */
function parseUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = value;
  const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
  if (counts.every((count) => typeof count === "number")) return value as Usage;
  if (!counts.some((count) => typeof count === "number")) return undefined;
  const count = (given: unknown) => (typeof given === "number" ? given : 0);
  return {
    inputTokens: count(inputTokens),
    outputTokens: count(outputTokens),
    cacheReadTokens: count(cacheReadTokens),
    cacheWriteTokens: count(cacheWriteTokens),
  };
}

/** Removes the cost from the usage, for versions that report only tokens. */
function tokenCounts(usage: Ending["usage"]): Usage | undefined {
  if (!usage) return undefined;
  const { totalCost: _, ...counts } = usage;
  return counts;
}

function isBudget(value: unknown): value is BudgetUse {
  return isObject(value) && Object.values(value).every((count) => typeof count === "number");
}

/** Checks a list of objects with strings or numbers under exactly these keys, in order. `key?` may be missing. */
function areAll<Item>(
  ...keys: ((keyof Item & string) | `${keyof Item & string}?`)[]
): (value: unknown) => value is Item[] {
  const isItem = (value: unknown) => {
    if (!isObject(value)) return false;
    const there = keys.filter((key) => !key.endsWith("?") || value[key.slice(0, -1)] !== undefined);
    const isInOrder = Object.keys(value).join() === there.map((key) => key.replace("?", "")).join();
    return isInOrder && Object.values(value).every((item) => typeof item === "string" || typeof item === "number");
  };
  return (value): value is Item[] => Array.isArray(value) && value.length > 0 && value.every(isItem);
}
