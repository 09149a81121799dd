// Decodes lines of Gemini CLI (`--output-format stream-json`) into events.

import { isObject, type JsonObject } from "../../json/object.ts";
import type { AgentEvent, Ending, Outcome } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { outcomeOfResult, shellRun } from "../wire-calls.ts";
import { LineCarrier } from "./carry.ts";
import type { DriverRequest } from "./driver.ts";
import { countOf, ForeignCalls, ForeignText, remark, stringOrEmpty, timeOf } from "./foreign-calls.ts";

type GeminiRequest = Pick<DriverRequest, "cwd" | "permissionMode" | "connection">;

export function geminiDecoder({ cwd, permissionMode, connection }: GeminiRequest) {
  const lines = new LineCarrier("gemini");
  const calls = new ForeignCalls("gemini", connection?.changedInputs);
  const text = new ForeignText();

  const readers: Readonly<Record<string, (line: JsonObject, at: number | undefined) => AgentEvent[] | undefined>> = {
    init: ({ session_id: sessionId, model }) => [
      {
        type: "init",
        sessionId: stringOrEmpty(sessionId),
        cwd,
        permissionMode,
        apiKeySource: "",
        ...(typeof model === "string" && { model }),
      },
    ],
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
      const reason = isObject(error) ? stringOrEmpty(error.message) : "";
      const isError = status !== "success";
      // Without a user to ask, tools that need permission are not even offered to the model.
      const refused = isObject(error) && /^(policy_violation|tool_not_registered)$/.test(stringOrEmpty(error.type));
      const outcome = (call: ToolCallPart) => (isError ? undefined : geminiOutcome(call, stringOrEmpty(output)));
      return [calls.end(id, { text: stringOrEmpty(output) || reason, isError, refused, outcome }, at)];
    },
    error: ({ message }, at) => remark("error", stringOrEmpty(message), at),
    result(line, at) {
      const ending = endingOf(line);
      const time = at === undefined ? {} : { at };
      if (line.status === "success") return [...text.flush(at), { type: "done", text: text.whole, ...ending, ...time }];
      const reason = isObject(line.error) ? stringOrEmpty(line.error.message) : "";
      const message = reason || `Gemini CLI ended with ${stringOrEmpty(line.status) || "no status"}.`;
      return [...text.flush(at), { type: "fail", message, ...ending, ...time }];
    },
  };

  return (line: unknown): AgentEvent[] => {
    const isKnown = isObject(line) && typeof line.type === "string" && Object.hasOwn(readers, line.type);
    return lines.carry(line, isKnown ? readers[line.type as string]!(line, timeOf(line.timestamp)) : undefined);
  };
}

/** Gemini's stream contains what is displayed of a result, which for most tools is only that there is one. */
function geminiOutcome(call: ToolCallPart, shown: string): Outcome {
  const args = isObject(call.args) ? call.args : {};
  switch (call.name) {
    case "Shell":
      return { kind: "success", value: shellRun(args, { stdout: shown }) };
    case "Read":
    case "LS":
    case "Glob":
    case "Grep": {
      const { path, pattern } = args;
      const about = { ...(path !== undefined && { path }), ...(pattern !== undefined && { pattern }) };
      return { kind: "success", value: { ...about, ...(shown !== "" && { message: shown }) } };
    }
    default:
      return outcomeOfResult(call, { type: "tool_result", id: call.id, text: shown, isError: false });
  }
}

function endingOf({ stats }: JsonObject): Ending {
  const { duration_ms: time, input_tokens: input, output_tokens: output, cached } = isObject(stats) ? stats : {};
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
