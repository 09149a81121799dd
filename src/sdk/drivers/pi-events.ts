// Decodes lines of pi (`pi -p --mode json`) into events.
import { fieldsOf, isObject, type JsonObject, stringOrEmpty } from "../../json/object.ts";
import type { AgentEvent, Outcome } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { changeOf, printed, shellRun } from "../wire-calls.ts";
import type { AgentStream } from "./agent-stream.ts";
import type { LineReader } from "./define-agent.ts";
import type { DriverRequest } from "./driver.ts";
import { countOf, noticeEvents, parseTime, wordsIn } from "./foreign-calls.ts";

export function piReaders(stream: AgentStream, { cwd }: DriverRequest): Record<string, LineReader> {
  const { calls, text } = stream;
  /** Why the last reply failed, if it did. */
  let failure: string | undefined;

  return {
    session: ({ id, cwd: folder, timestamp }) => [
      stream.begin(stringOrEmpty(id), { cwd: stringOrEmpty(folder) || cwd, at: parseTime(timestamp) ?? Date.now() }),
    ],
    message_update: ({ assistantMessageEvent: part }) => (isObject(part) ? partEvents(part) : undefined),
    message_end({ message }) {
      if (!isObject(message)) return undefined;
      if (message.role === "user") return [{ type: "user", text: wordsIn(message.content) }];
      return message.role === "assistant" ? replyEnded(message) : [];
    },
    tool_execution_start: ({ toolCallId: id, toolName: name, args }) =>
      typeof id === "string"
        ? [...text.flush(), calls.start({ id, name: stringOrEmpty(name), input: args })]
        : undefined,
    tool_execution_end({ toolCallId: id, result, isError }) {
      if (typeof id !== "string" || !isObject(result)) return undefined;
      const ended = { text: wordsIn(result.content), isError: isError === true };
      const details = fieldsOf(result.details);
      return [calls.end(id, { ...ended, outcome: (call) => callOutcome(call, ended, details) })];
    },
    auto_retry_start: ({ attempt, delayMs, errorMessage }) => [
      {
        type: "retry",
        attempt: countOf(attempt),
        discards: text.discard(),
        ...(stringOrEmpty(errorMessage) !== "" && { reason: stringOrEmpty(errorMessage) }),
        ...(typeof delayMs === "number" && { delayMs }),
      },
    ],
    extension_error: ({ error }) => noticeEvents("error", stringOrEmpty(error)),
    agent_settled: () => (failure === undefined ? stream.done() : stream.fail(failure)),
  };

  function partEvents(part: JsonObject): AgentEvent[] {
    switch (part.type) {
      case "text_delta":
        return text.delta(stringOrEmpty(part.delta));
      case "text_end":
        return text.segment(stringOrEmpty(part.content));
      case "thinking_delta":
        return [{ type: "thinking", text: stringOrEmpty(part.delta) }];
      case "thinking_end":
        return [{ type: "thinking_end" }];
      default:
        return [];
    }
  }

  function replyEnded({ stopReason, errorMessage, usage: counts }: JsonObject): AgentEvent[] {
    failure =
      stopReason === "error" || stopReason === "aborted"
        ? stringOrEmpty(errorMessage) || "The reply failed."
        : undefined;
    if (!isObject(counts)) return [];
    const spent = {
      inputTokens: countOf(counts.input),
      outputTokens: countOf(counts.output),
      cacheReadTokens: countOf(counts.cacheRead),
      cacheWriteTokens: countOf(counts.cacheWrite),
    };
    return stream.used(spent, isObject(counts.cost) ? countOf(counts.cost.total) : undefined);
  }
}

/** Returns the outcome of a call in the unified form, or undefined if the CLI reports no more than the text that its model received. */
function callOutcome(
  { name, args }: ToolCallPart,
  { text, isError }: { text: string; isError: boolean },
  { patch, truncation }: JsonObject,
): Outcome | undefined {
  const given = fieldsOf(args);
  const success = (value: JsonObject): Outcome => ({ kind: "success", value });
  if (name === "Shell") {
    const [, output = text, code] = (isError && /^(.*?)\n*Command exited with code (\d+)$/s.exec(text)) || [];
    const stdout = printed(output);
    if (!isError) return success(shellRun(given, { stdout }));
    return code === undefined
      ? undefined
      : { kind: "failure", value: shellRun(given, { stdout, exitCode: Number(code) }) };
  }
  if (isError) return undefined;
  if (name === "Edit" && typeof patch === "string")
    return success({ path: given.path, ...changeOf({ diff: patch }), message: text });
  if (name === "Read" && isObject(truncation) && typeof truncation.content === "string") {
    const { content, totalLines, outputLines } = truncation;
    const startLine = typeof given.offset === "number" ? given.offset : 1;
    return success({
      path: given.path,
      content,
      exceededLimit: true,
      ...(typeof totalLines === "number" && { totalLines }),
      ...(typeof outputLines === "number" && { readRange: { startLine, endLine: startLine + outputLines - 1 } }),
    });
  }
  return undefined;
}
