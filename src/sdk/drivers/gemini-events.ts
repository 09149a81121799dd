// Decodes lines of Gemini CLI (`--output-format stream-json`) into events.

import { fieldsOf, isObject, type JsonObject, stringOrEmpty } from "../../json/object.ts";
import type { AgentEvent, Ending, Outcome } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { outcomeOfResult, shellRun } from "../wire-calls.ts";
import type { AgentStream } from "./agent-stream.ts";
import type { LineReader } from "./define-agent.ts";
import { countOf, noticeEvents, parseTime } from "./foreign-calls.ts";

export function geminiReaders(stream: AgentStream): Record<string, LineReader> {
  const { calls, text } = stream;
  const readers: Readonly<Record<string, (line: JsonObject, at: number | undefined) => AgentEvent[] | undefined>> = {
    init: ({ session_id: id, model }) => [stream.begin(stringOrEmpty(id), typeof model === "string" ? { model } : {})],
    message({ role, content, delta }, at) {
      if (role === "user") return [{ type: "user", text: stringOrEmpty(content), ...(at !== undefined && { at }) }];
      if (role !== "assistant") return undefined;
      return delta === true ? text.delta(stringOrEmpty(content), at) : text.segment(stringOrEmpty(content), at);
    },
    tool_use({ tool_id: id, tool_name: name, parameters: input }, at) {
      if (typeof id !== "string" || typeof name !== "string") return undefined;
      return [...text.flush(at), calls.start({ id, name, input }, at)];
    },
    tool_result({ tool_id: id, status, output, error }, at) {
      if (typeof id !== "string") return undefined;
      const errorMessage = isObject(error) ? stringOrEmpty(error.message) : "";
      const reason = errorMessage.replace(/^Tool execution blocked: /, "");
      const isError = status !== "success";
      // When no user can be asked, the CLI does not offer tools that need permission; a call of one counts as refused.
      const refused = isObject(error) && /^(policy_violation|tool_not_registered)$/.test(stringOrEmpty(error.type));
      const outcome = (call: ToolCallPart) => (isError ? undefined : geminiOutcome(call, stringOrEmpty(output)));
      return [
        calls.end(id, { text: (refused && reason) || stringOrEmpty(output) || reason, isError, refused, outcome }, at),
      ];
    },
    error: ({ message }, at) => noticeEvents("error", stringOrEmpty(message), at),
    result(line, at) {
      const ending = { ...parseStats(line), ...(at !== undefined && { at }) };
      if (line.status === "success") return stream.done(ending);
      const reason = isObject(line.error) ? stringOrEmpty(line.error.message) : "";
      return stream.fail(reason || `Gemini CLI ended with ${stringOrEmpty(line.status) || "no status"}.`, ending);
    },
  };
  return Object.fromEntries(
    Object.entries(readers).map(([type, read]) => [type, (line) => read(line, parseTime(line.timestamp))]),
  );
}

/** Reads a result. Gemini's stream contains only its displayed form, which for most tools says very little. */
function geminiOutcome(call: ToolCallPart, resultDisplay: string): Outcome {
  const args = fieldsOf(call.args);
  switch (call.name) {
    case "Shell":
      return { kind: "success", value: shellRun(args, { stdout: resultDisplay }) };
    case "Read":
    case "LS":
    case "Glob":
    case "Grep": {
      const { path, pattern } = args;
      const about = { ...(path !== undefined && { path }), ...(pattern !== undefined && { pattern }) };
      return { kind: "success", value: { ...about, ...(resultDisplay !== "" && { message: resultDisplay }) } };
    }
    default:
      return outcomeOfResult(call, { type: "tool_result", id: call.id, text: resultDisplay, isError: false });
  }
}

function parseStats({ stats }: JsonObject): Ending {
  const { duration_ms: time, input_tokens: input, output_tokens: output, cached } = fieldsOf(stats);
  const durationMs = countOf(time);
  if (!isObject(stats)) return { durationMs, apiDurationMs: durationMs };
  return {
    durationMs,
    apiDurationMs: durationMs,
    usage: {
      // Gemini includes cached tokens in the input; here they are counted separately.
      inputTokens: Math.max(0, countOf(input) - countOf(cached)),
      outputTokens: countOf(output),
      cacheReadTokens: countOf(cached),
      cacheWriteTokens: 0,
    },
  };
}
