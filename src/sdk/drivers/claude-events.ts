// Decodes lines of Claude Code (`-p --output-format stream-json --verbose`) into events.

import { isObject, type JsonObject, stringOrEmpty } from "../../json/object.ts";
import type { ErrorCode } from "../../protocol/error-codes.ts";
import type { AgentEvent, Denial, Ending, Usage } from "../../protocol/event.ts";
import { withoutTag } from "../sessions/claude-blocks.ts";
import type { AgentStream } from "./agent-stream.ts";
import { claudeOutcome } from "./claude-outcomes.ts";
import type { LineReader } from "./define-agent.ts";
import { codeOfStatus } from "./failures.ts";
import { countOf, noticeEvents, parseTime, wordsIn } from "./foreign-calls.ts";

export function claudeReaders({ calls, text }: AgentStream): Record<string, LineReader> {
  /** The reasons why calls were not permitted, by call id. */
  const refusals = new Map<string, string>();
  /** Replies whose usage was reported: every block of a reply repeats it. */
  const counted = new Set<string>();
  let hasDeltas = false;
  let hasThoughtDeltas = false;

  return {
    system: (line) => (line.subtype === "init" ? initEvents(line) : systemNotice(line)),
    stream_event(line) {
      const { event, parent_tool_use_id: parent } = line;
      if (!isObject(event)) return undefined;
      hasDeltas = true;
      return parent ? [] : deltaOf(event);
    },
    assistant(line) {
      const { message, parent_tool_use_id: parent } = line;
      if (!isObject(message) || !Array.isArray(message.content)) return undefined;
      const at = parseTime(line.timestamp);
      const events = message.content.flatMap((block) => blockEvents(block, { at, isNested: Boolean(parent) }));
      return [...events, ...usageNotice(message)];
    },
    user(line) {
      const { message, parent_tool_use_id: parent } = line;
      if (!isObject(message)) return undefined;
      const at = parseTime(line.timestamp);
      const { content } = message;
      if (typeof content === "string") return parent ? noticeEvents("subagent", content, at) : userEvents(content, at);
      if (!Array.isArray(content)) return undefined;
      return content.flatMap((block) => resultEvents(block, line, at));
    },
    result: (line) => [...text.flush(), endingEvent(line)],
  };

  function deltaOf(event: JsonObject): AgentEvent[] {
    const { delta } = event;
    if (event.type === "message_delta") {
      const usage = parseUsage(event.usage);
      return usage ? [{ type: "notice", kind: "usage", message: "", fields: usage }] : [];
    }
    if (event.type !== "content_block_delta" || !isObject(delta)) return [];
    if (delta.type === "text_delta") return text.delta(stringOrEmpty(delta.text));
    if (delta.type !== "thinking_delta" || stringOrEmpty(delta.thinking) === "") return [];
    hasThoughtDeltas = true;
    return [{ type: "thinking", text: stringOrEmpty(delta.thinking) }];
  }

  function blockEvents(block: unknown, { at, isNested }: { at: number | undefined; isNested: boolean }): AgentEvent[] {
    if (!isObject(block)) return [];
    const time = at === undefined ? {} : { at };
    switch (block.type) {
      case "text":
        return isNested
          ? noticeEvents("subagent", stringOrEmpty(block.text), at)
          : text.segment(stringOrEmpty(block.text), at);
      case "thinking": {
        if (isNested) return noticeEvents("subagent", stringOrEmpty(block.thinking), at);
        const isTold = hasThoughtDeltas;
        hasThoughtDeltas = false;
        const thinkingText = isTold ? "" : stringOrEmpty(block.thinking);
        const thoughts: AgentEvent[] = thinkingText === "" ? [] : [{ type: "thinking", text: thinkingText, ...time }];
        return [...thoughts, { type: "thinking_end", ...time }];
      }
      case "tool_use": {
        const { id, name, input } = block;
        if (typeof id !== "string" || typeof name !== "string") return [];
        return [...(isNested ? [] : text.flush(at)), calls.start({ id, name, input }, at)];
      }
      default:
        return [];
    }
  }

  function resultEvents(block: unknown, line: JsonObject, at: number | undefined): AgentEvent[] {
    if (!isObject(block)) return [];
    if (block.type === "text") return line.parent_tool_use_id ? [] : userEvents(stringOrEmpty(block.text), at);
    if (block.type !== "tool_result" || typeof block.tool_use_id !== "string") return [];
    const id = block.tool_use_id;
    const isError = block.is_error === true;
    const words = withoutTag(wordsIn(block.content));
    if (isError && !refusals.has(id) && isRefused(line, id)) refusals.set(id, plainReason(words));
    const refused = refusals.has(id);
    const result = { text: refused ? plainReason(words) : words, isError, refused };
    return [calls.end(id, { ...result, outcome: (call) => claudeOutcome(call, result, line.tool_use_result) }, at)];
  }

  /** Reads the usage of a reply. In a stream with deltas it is at the end of the reply; the earlier count is wrong. */
  function usageNotice(message: JsonObject): AgentEvent[] {
    const usage = parseUsage(message.usage);
    const id = stringOrEmpty(message.id);
    if (hasDeltas || !usage || counted.has(id)) return [];
    counted.add(id);
    return [{ type: "notice", kind: "usage", message: "", fields: usage }];
  }

  function systemNotice(line: JsonObject): AgentEvent[] {
    if (line.subtype === "api_retry") return [retryOf(line)];
    if (line.subtype === "permission_denied" && typeof line.tool_use_id === "string") {
      refusals.set(line.tool_use_id, plainReason(stringOrEmpty(line.message)));
    }
    return noticeEvents(stringOrEmpty(line.subtype), stringOrEmpty(line.message));
  }

  function retryOf({ attempt, error, error_status: status, retry_delay_ms: delay }: JsonObject): AgentEvent {
    const reason = [stringOrEmpty(error), ...(typeof status === "number" ? [`(status ${status})`] : [])]
      .join(" ")
      .trim();
    return {
      type: "retry",
      attempt: countOf(attempt),
      discards: text.discard(),
      ...(reason !== "" && { reason }),
      ...(typeof delay === "number" && { delayMs: delay }),
    };
  }

  function endingEvent(line: JsonObject): AgentEvent {
    const usage = parseUsage(line.usage);
    const denials = denialsOf(line, refusals);
    const costUsd = costOf(line);
    const ending: Ending = {
      durationMs: countOf(line.duration_ms),
      apiDurationMs: countOf(line.duration_api_ms),
      ...(usage && { usage }),
      ...(denials.length > 0 && { denials }),
      ...(costUsd !== undefined && { costUsd }),
    };
    const isError = line.is_error === true || stringOrEmpty(line.subtype) !== "success";
    // Text that is not a model reply, such as the output of a built-in command, is still the answer.
    const structured = line.structured_output === undefined ? {} : { structured: line.structured_output };
    if (!isError) return { type: "done", text: text.whole || stringOrEmpty(line.result), ...structured, ...ending };
    const errors = Array.isArray(line.errors) ? line.errors.map(String).join("; ") : "";
    const message = stringOrEmpty(line.result) || errors || `Claude Code ended with ${stringOrEmpty(line.subtype)}.`;
    const code = failureCode(line);
    return { type: "fail", message, ...(code && { code }), ...ending };
  }
}

/** Converts a message of the user. Text that the CLI itself adds after an interruption is not a prompt. */
function userEvents(text: string, at: number | undefined): AgentEvent[] {
  if (/^\[Request interrupted by user/.test(text)) return noticeEvents("interrupted", text, at);
  return [{ type: "user", text, ...(at !== undefined && { at }) }];
}

function initEvents(line: JsonObject): AgentEvent[] | undefined {
  if (typeof line.session_id !== "string") return undefined;
  const init: AgentEvent = {
    type: "init",
    sessionId: line.session_id,
    cwd: stringOrEmpty(line.cwd),
    permissionMode: stringOrEmpty(line.permissionMode),
    apiKeySource: stringOrEmpty(line.apiKeySource),
    ...(typeof line.model === "string" && { model: line.model }),
    ...(Array.isArray(line.tools) && { tools: line.tools.map(String) }),
    ...(Array.isArray(line.mcp_servers) && {
      mcpServers: line.mcp_servers.filter(isObject).map(({ name, status }) => ({
        name: stringOrEmpty(name),
        status: stringOrEmpty(status),
      })),
    }),
  };
  return [init];
}

function parseUsage(value: unknown): Usage | undefined {
  if (!isObject(value) || typeof value.input_tokens !== "number") return undefined;
  return {
    inputTokens: value.input_tokens,
    outputTokens: countOf(value.output_tokens),
    cacheReadTokens: countOf(value.cache_read_input_tokens),
    cacheWriteTokens: countOf(value.cache_creation_input_tokens),
  };
}

/** Returns whether a call was refused, which newer versions of the CLI report next to the result. */
function isRefused({ tool_result_meta: meta }: JsonObject, id: string): boolean {
  if (!Array.isArray(meta)) return false;
  const found = meta.filter(isObject).find((each) => each.id === id);
  return isObject(found?.permission_decision) && found.permission_decision.decision === "reject";
}

function denialsOf({ permission_denials: list }: JsonObject, reasons: ReadonlyMap<string, string>): Denial[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map(({ tool_name: tool, tool_use_id: id }) => ({
    tool: stringOrEmpty(tool),
    callId: stringOrEmpty(id),
    reason: reasons.get(stringOrEmpty(id)) ?? "",
  }));
}

const failures: Readonly<Record<string, ErrorCode>> = {
  error_max_turns: "MAX_TURNS",
  error_max_budget_usd: "MAX_COST",
  error_max_structured_output_retries: "OUTPUT_SCHEMA",
};

/** Returns the error code of a failure; undefined if only the message says what failed. */
function failureCode(line: JsonObject): ErrorCode | undefined {
  const status = countOf(line.api_error_status);
  if (status >= 400) return codeOfStatus(status);
  const subtype = stringOrEmpty(line.subtype);
  return Object.hasOwn(failures, subtype) ? failures[subtype] : undefined;
}

/** The cost of this turn; in a resumed session `total_cost_usd` is the sum of all turns. */
function costOf({ model_usage_since_last_result: models, total_cost_usd: total }: JsonObject): number | undefined {
  if (!isObject(models)) return typeof total === "number" ? total : undefined;
  const costs = Object.values(models).map((each) => (isObject(each) ? each.costUSD : undefined));
  return costs.every((cost) => typeof cost === "number") ? costs.reduce((sum, cost) => sum + cost, 0) : undefined;
}

/** Removes the prefix that names the hook from the reason of a refusal. */
function plainReason(text: string): string {
  return text.replace(/^\w+(?::\S+)? hook (?:\w+ )?error:\s*(?:\[[^\]]*\]:?\s*)?/, "");
}
