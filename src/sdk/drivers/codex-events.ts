// Decodes lines of Codex (`codex exec --json`) into events.

import { isObject, type JsonObject, objectsIn, stringOrEmpty, tryParse } from "../../json/object.ts";
import type { AgentEvent, Usage } from "../../protocol/event.ts";
import { withoutShell } from "../shell-line.ts";
import { shellRun } from "../wire-calls.ts";
import type { AgentStream } from "./agent-stream.ts";
import type { LineReader } from "./define-agent.ts";
import type { DriverRequest } from "./driver.ts";
import { countOf, type ForeignCall, type ForeignResult, noticeEvents, wordsIn } from "./foreign-calls.ts";

/** How to read one kind of item as a tool call, and how to read its result. */
type CallItem = {
  call(item: JsonObject): Omit<ForeignCall, "id">;
  end(item: JsonObject): ForeignResult;
};

/** Unified tool names by the kind of change in a patch. */
const changeNames: Readonly<Record<string, string>> = { add: "Write", delete: "Delete" };

const callItems: Readonly<Record<string, CallItem>> = {
  command_execution: {
    call: ({ command }) => ({ name: "shell", input: { command: withoutShell(stringOrEmpty(command)) } }),
    end(item) {
      const text = stringOrEmpty(item.aggregated_output);
      if (item.status === "declined") return { text: text || "It was declined.", isError: true, refused: true };
      const { exit_code: exitCode } = item;
      const isError = exitCode === undefined || exitCode === null ? item.status === "failed" : exitCode !== 0;
      const end = { stdout: text, ...(typeof exitCode === "number" && { exitCode }) };
      const value = shellRun({ command: withoutShell(stringOrEmpty(item.command)) }, end);
      return { text, isError, outcome: { kind: isError ? "failure" : "success", value } };
    },
  },
  /** Each file of a patch is converted to one call. */
  file_change: {
    call({ kind, path }) {
      const as = changeNames[stringOrEmpty(kind)];
      return { name: "file_change", ...(as !== undefined && { as }), input: { path, kind } };
    },
    end: ({ status, kind, path }) => ({
      text: `${stringOrEmpty(kind)} ${stringOrEmpty(path)}`,
      isError: status === "failed",
      refused: status === "declined",
      ...(status === "completed" && { outcome: { kind: "success", value: { path } } }),
    }),
  },
  mcp_tool_call: {
    call: ({ server, tool, arguments: input }) => ({
      name: `mcp__${stringOrEmpty(server)}__${stringOrEmpty(tool)}`,
      input,
    }),
    end({ result, error, status }) {
      if (isObject(error)) return { text: stringOrEmpty(error.message), isError: true };
      return { text: isObject(result) ? wordsIn(result.content) : "", isError: status === "failed" };
    },
  },
  web_search: {
    call: ({ query }) => ({ name: "web_search", input: { query } }),
    end: () => ({ text: "", isError: false }),
  },
  todo_list: {
    call({ items }) {
      const list = objectsIn(items);
      const plan = list.map(({ text, completed }) => ({ step: text, status: completed ? "completed" : "pending" }));
      return { name: "update_plan", input: { plan } };
    },
    end: () => ({ text: "", isError: false }),
  },
};

export function codexReaders(stream: AgentStream, { connection }: DriverRequest): Record<string, LineReader> {
  const { calls, text } = stream;
  let lastError = "";

  return {
    "thread.started": ({ thread_id: sessionId }) => [stream.begin(stringOrEmpty(sessionId))],
    "turn.completed": (line) => stream.done(usageField(line)),
    "turn.failed"(line) {
      const decoded = reasonIn(isObject(line.error) ? stringOrEmpty(line.error.message) : "");
      return stream.fail(decoded || lastError || "The turn failed.", usageField(line));
    },
    error(line) {
      const message = stringOrEmpty(line.message);
      const [, attempt, reason = ""] = /^Reconnecting\.{3} (\d+)\/\d+(?: \((.*)\))?$/s.exec(message) ?? [];
      lastError = reasonIn(reason || message);
      if (attempt === undefined) return noticeEvents("error", lastError);
      const retry = { attempt: Number(attempt), discards: text.discard(), ...(reason !== "" && { reason: lastError }) };
      return [{ type: "retry", ...retry }];
    },
    "item.started": ({ item }) => itemEvents(item, "started"),
    "item.updated": ({ item }) => itemEvents(item, "updated"),
    "item.completed": ({ item }) => itemEvents(item, "completed"),
  };

  function itemEvents(item: unknown, phase: "started" | "updated" | "completed"): AgentEvent[] | undefined {
    if (!isObject(item) || typeof item.id !== "string") return undefined;
    const kind = stringOrEmpty(item.type);
    const isOver = phase === "completed";
    switch (kind) {
      case "agent_message":
        return isOver ? text.segment(stringOrEmpty(item.text)) : text.delta("");
      case "reasoning":
        return isOver ? [{ type: "thinking", text: stringOrEmpty(item.text) }, { type: "thinking_end" }] : [];
      case "error":
        // Drop the warning about a flag that we passed ourselves.
        if (connection?.hook && /--dangerously-bypass-hook-trust/.test(stringOrEmpty(item.message))) return [];
        return noticeEvents("error", stringOrEmpty(item.message));
    }
    if (!Object.hasOwn(callItems, kind)) return undefined;
    const { call, end } = callItems[kind]!;
    const events: AgentEvent[] = [];
    for (const each of callsIn(item)) {
      if (!calls.has(each.id)) events.push(...text.flush(), calls.start({ id: each.id, ...call(each) }));
      if (isOver) events.push(calls.end(each.id, end(each)));
    }
    return events;
  }
}

/** Splits a patch of several files into one call per file. */
function callsIn(item: JsonObject): (JsonObject & { id: string })[] {
  const { changes } = item;
  const whole = item as JsonObject & { id: string };
  if (item.type !== "file_change" || !Array.isArray(changes)) return [whole];
  return changes
    .filter(isObject)
    .map((change, index) => ({ ...whole, ...change, id: index === 0 ? whole.id : `${whole.id}.${index + 1}` }));
}

function usageField({ usage }: JsonObject): { usage?: Usage } {
  return isObject(usage) ? { usage: codexUsage(usage) } : {};
}

export function codexUsage(usage: JsonObject): Usage {
  return {
    // Codex includes cached tokens in the input; here they are counted separately.
    inputTokens: Math.max(0, countOf(usage.input_tokens) - countOf(usage.cached_input_tokens)),
    outputTokens: countOf(usage.output_tokens),
    cacheReadTokens: countOf(usage.cached_input_tokens),
    cacheWriteTokens: countOf(usage.cache_write_input_tokens),
  };
}

/** Returns the reason in an error message. Errors of the model contain the vendor's JSON. */
function reasonIn(message: string): string {
  const parsed = tryParse(message);
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : undefined;
  return stringOrEmpty(error?.message) || message;
}
