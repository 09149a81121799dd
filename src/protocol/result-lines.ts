// The lines result/success and result/error beside their events.

import type { Row } from "../json/key-table.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import type { Ending, Usage } from "./event.ts";
import { constant, field, type LineKind, type Of, session, time, timed } from "./line-rows.ts";

const areNotices = areAll<NonNullable<Ending["notices"]>[number]>("kind", "message");
const areDenials = areAll<{ tool: string; call_id: string; reason: string }>("tool", "call_id", "reason");

function resultRows<Event extends Ending & { at?: number }>(subtype: string, own: Row<Event>[]): Row<Event>[] {
  return [
    constant("type", "result"),
    constant("subtype", subtype),
    field("duration_ms", "durationMs"),
    field("duration_api_ms", "apiDurationMs"),
    constant("is_error", subtype === "error"),
    ...own,
    session(),
    field("request_id", "requestId", "given"),
    field("usage", "usage", "given"),
    {
      key: "permission_denials",
      when: "given",
      holds: areDenials,
      write({ denials }) {
        if (!denials || denials.length === 0) return undefined;
        return denials.map(({ tool, callId, reason }) => ({ tool, call_id: callId, reason }));
      },
    },
    { key: "notices", when: "given", holds: areNotices, write: ({ notices }) => notices },
    field("total_cost_usd", "costUsd", "given"),
    time("foreign"),
  ];
}

export const done: LineKind<Of<"done">> = {
  start(line) {
    if (typeof line.result !== "string") return undefined;
    const event: Of<"done"> = { type: "done", text: line.result, ...endingOf(line) };
    if (line.structured_output !== undefined) event.structured = line.structured_output;
    return timed(event, line);
  },
  rows: resultRows("success", [field("result", "text"), field("structured_output", "structured", "given")]),
};

export const fail: LineKind<Of<"fail">> = {
  start(line) {
    if (typeof line.result !== "string") return undefined;
    const event: Of<"fail"> = { type: "fail", message: line.result, ...endingOf(line) };
    if (typeof line.error_code === "string") event.code = line.error_code;
    return timed(event, line);
  },
  rows: resultRows("error", [field("result", "message"), field("error_code", "code", "given")]),
};

/** Where one of the two durations is missing they are taken to be equal, as they are in every stream that was seen. */
function endingOf(line: JsonObject): Ending {
  const durationMs = typeof line.duration_ms === "number" ? line.duration_ms : 0;
  const apiDurationMs = typeof line.duration_api_ms === "number" ? line.duration_api_ms : durationMs;
  const ending: Ending = { durationMs, apiDurationMs };
  if (typeof line.request_id === "string") ending.requestId = line.request_id;
  const usage = usageOf(line.usage);
  if (usage) ending.usage = usage;
  if (typeof line.total_cost_usd === "number") ending.costUsd = line.total_cost_usd;
  if (areNotices(line.notices)) ending.notices = line.notices;
  if (areDenials(line.permission_denials))
    ending.denials = line.permission_denials.map(({ tool, call_id, reason }) => ({ tool, callId: call_id, reason }));
  return ending;
}

/** The object itself when it counts everything; a completed copy when it counts something. */
function usageOf(value: unknown): Usage | undefined {
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

/** A list of objects that hold texts under these keys, in this order, and nothing else. */
function areAll<Item>(...keys: (keyof Item & string)[]): (value: unknown) => value is Item[] {
  const isItem = (value: unknown) =>
    isObject(value) &&
    Object.keys(value).join() === keys.join() &&
    Object.values(value).every((item) => typeof item === "string");
  return (value): value is Item[] => Array.isArray(value) && value.length > 0 && value.every(isItem);
}
