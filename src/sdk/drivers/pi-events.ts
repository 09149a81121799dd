// Decodes lines of pi (`pi -p --mode json`) into events.
import { isObject, type JsonObject } from "../../json/object.ts";
import type { AgentEvent, Outcome, Usage } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { addUsage } from "../../protocol/usage.ts";
import { changeOf, shellRun } from "../wire-calls.ts";
import { LineCarrier } from "./carry.ts";
import type { DriverRequest } from "./driver.ts";
import { countOf, ForeignCalls, ForeignText, remark, stringOrEmpty, timeOf } from "./foreign-calls.ts";

type PiRequest = Pick<DriverRequest, "cwd" | "permissionMode" | "model">;

export function piDecoder({ cwd, permissionMode, model }: PiRequest): (line: unknown) => AgentEvent[] {
  const lines = new LineCarrier("pi");
  const calls = new ForeignCalls("pi");
  const text = new ForeignText();
  const startedAt = Date.now();
  let usage: Usage | undefined;
  let costUsd: number | undefined;
  /** Why the last reply failed. */
  let failure: string | undefined;

  const readers: Readonly<Record<string, (line: JsonObject) => AgentEvent[] | undefined>> = {
    session: ({ id, cwd: folder, timestamp }) => [
      {
        type: "init",
        sessionId: stringOrEmpty(id),
        cwd: stringOrEmpty(folder) || cwd,
        permissionMode,
        apiKeySource: "",
        ...(model !== undefined && { model }),
        at: timeOf(timestamp) ?? Date.now(),
      },
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
      const said = { text: wordsIn(result.content), isError: isError === true };
      return [calls.end(id, { ...said, outcome: (call) => outcomeOf(call, said, result.details) })];
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
    extension_error: ({ error }) => remark("error", stringOrEmpty(error)),
    agent_settled: () => [...text.flush(), ending()],
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
    usage = usage ? addUsage(usage, spent) : spent;
    if (isObject(counts.cost)) costUsd = (costUsd ?? 0) + countOf(counts.cost.total);
    return [{ type: "notice", kind: "usage", message: "", fields: spent }];
  }

  function ending(): AgentEvent {
    const durationMs = Date.now() - startedAt;
    const facts = {
      durationMs,
      apiDurationMs: durationMs,
      ...(usage && { usage }),
      ...(costUsd !== undefined && { costUsd }),
    };
    if (failure !== undefined) return { type: "fail", message: failure, ...facts };
    return { type: "done", text: text.whole, ...facts };
  }

  return (line) => {
    const isLine = isObject(line) && typeof line.type === "string";
    if (isLine && !Object.hasOwn(readers, line.type as string))
      return lines.carry(line, silent.has(line.type) ? [] : undefined);
    return lines.carry(line, isLine ? readers[line.type as string]!(line) : undefined);
  };
}

/** Types of lines whose content also appears in others. */
const silent: ReadonlySet<unknown> = new Set([
  "agent_start",
  "entry_appended",
  "turn_start",
  "message_start",
  "tool_execution_update",
  "bash_execution_update",
  "turn_end",
  "agent_end",
  "auto_retry_end",
  "compaction_start",
  "compaction_end",
]);

function wordsIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => (isObject(block) ? stringOrEmpty(block.text) : "")).join("");
}

/** Returns undefined if there is nothing beyond the text for the model. */
function outcomeOf(
  { name, args }: ToolCallPart,
  { text, isError }: { text: string; isError: boolean },
  details: unknown,
): Outcome | undefined {
  const given = isObject(args) ? args : {};
  if (isError) {
    const [, output = "", code] = (name === "Shell" && /^(.*?)\n*Command exited with code (\d+)$/s.exec(text)) || [];
    if (code === undefined) return undefined;
    return { kind: "failure", value: shellRun(given, { stdout: output, exitCode: Number(code) }) };
  }
  if (name !== "Edit" || !isObject(details) || typeof details.patch !== "string") return undefined;
  return { kind: "success", value: { path: given.path, ...changeOf({ diff: details.patch }), message: text } };
}
