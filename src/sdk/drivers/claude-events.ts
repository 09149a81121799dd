// Lines of Claude Code (`-p --output-format stream-json --verbose`) -> events.

import { isObject, type JsonObject } from "../../json/object.ts";
import type { ErrorCode } from "../../protocol/error-codes.ts";
import type { AgentEvent, Denial, Ending, Usage } from "../../protocol/event.ts";
import { derived } from "../../protocol/stream-json.ts";
import { carryLine } from "./carry.ts";
import type { DriverRequest } from "./driver.ts";
import { countOf, ForeignCalls, ForeignText, remark, textOf, timeOf } from "./foreign-calls.ts";

export function claudeDecoder({ prompt }: Pick<DriverRequest, "prompt">): (line: unknown) => AgentEvent[] {
  const calls = new ForeignCalls("claude");
  const text = new ForeignText();
  /** Why a call was not permitted, by its id. */
  const refusals = new Map<string, string>();
  /** Replies whose usage was told: the same is said with every block of a reply. */
  const counted = new Set<string>();
  let hasDeltas = false;
  let hasThoughtDeltas = false;
  let hasBegun = false;

  const readers: Record<string, (line: JsonObject) => AgentEvent[] | undefined> = {
    system(line) {
      if (line.subtype !== "init") return [systemNotice(line)];
      const init = initOf(line);
      if (hasBegun || !init) return init && [init];
      hasBegun = true;
      return [init];
    },
    stream_event(line) {
      const { event, parent_tool_use_id: parent } = line;
      if (!isObject(event)) return undefined;
      hasDeltas = true;
      const told = parent ? [] : deltaOf(event);
      return told.length > 0 ? told : [remark(`stream.${textOf(event.type)}`)];
    },
    assistant(line) {
      const { message, parent_tool_use_id: parent } = line;
      if (!isObject(message) || !Array.isArray(message.content)) return undefined;
      const at = timeOf(line.timestamp);
      const told = message.content.flatMap((block) => blockEvents(block, { at, isNested: Boolean(parent) }));
      return [...told, ...usageNotice(message)];
    },
    user(line) {
      const { message, parent_tool_use_id: parent } = line;
      if (!isObject(message)) return undefined;
      const at = timeOf(line.timestamp);
      const { content } = message;
      if (typeof content === "string") return parent ? [remark("subagent", content, at)] : [userEvent(content, at)];
      if (!Array.isArray(content)) return undefined;
      return content.flatMap((block) => resultEvents(block, line, at));
    },
    result: (line) => [...text.flush(), endingOf(line)],
  };

  function deltaOf(event: JsonObject): AgentEvent[] {
    const { delta } = event;
    if (event.type === "message_delta") {
      const usage = usageOf(event.usage);
      return usage ? [{ type: "notice", kind: "usage", message: "", fields: usage }] : [];
    }
    if (event.type !== "content_block_delta" || !isObject(delta)) return [];
    if (delta.type === "text_delta") return text.delta(textOf(delta.text));
    if (delta.type !== "thinking_delta" || textOf(delta.thinking) === "") return [];
    hasThoughtDeltas = true;
    return [{ type: "thinking", text: textOf(delta.thinking) }];
  }

  function blockEvents(block: unknown, { at, isNested }: { at: number | undefined; isNested: boolean }): AgentEvent[] {
    if (!isObject(block)) return [];
    const time = at === undefined ? {} : { at };
    switch (block.type) {
      case "text":
        return isNested ? [remark("subagent", textOf(block.text), at)] : text.segment(textOf(block.text), at);
      case "thinking": {
        if (isNested) return [remark("subagent", textOf(block.thinking), at)];
        const isTold = hasThoughtDeltas;
        hasThoughtDeltas = false;
        const said = isTold ? "" : textOf(block.thinking);
        const thoughts: AgentEvent[] = said === "" ? [] : [{ type: "thinking", text: said, ...time }];
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
    if (block.type === "text") return line.parent_tool_use_id ? [] : [userEvent(textOf(block.text), at)];
    if (block.type !== "tool_result" || typeof block.tool_use_id !== "string") return [];
    const id = block.tool_use_id;
    const said = { text: contentText(block.content), isError: block.is_error === true };
    if (said.isError && !refusals.has(id) && isRefused(line, id)) refusals.set(id, said.text);
    return [calls.end(id, { ...said, refused: refusals.has(id) }, at)];
  }

  /** With deltas the usage comes at the end of each reply, and is right only there. */
  function usageNotice(message: JsonObject): AgentEvent[] {
    const usage = usageOf(message.usage);
    const id = textOf(message.id);
    if (hasDeltas || !usage || counted.has(id)) return [];
    counted.add(id);
    return [{ type: "notice", kind: "usage", message: "", fields: usage }];
  }

  function systemNotice(line: JsonObject): AgentEvent {
    if (line.subtype === "permission_denied" && typeof line.tool_use_id === "string") {
      refusals.set(line.tool_use_id, textOf(line.message));
    }
    return remark(textOf(line.subtype), textOf(line.message));
  }

  function endingOf(line: JsonObject): AgentEvent {
    const usage = usageOf(line.usage);
    const denials = denialsOf(line, refusals);
    const ending: Ending = {
      durationMs: countOf(line.duration_ms),
      apiDurationMs: countOf(line.duration_api_ms),
      ...(usage && { usage }),
      ...(denials.length > 0 && { denials }),
      ...(typeof line.total_cost_usd === "number" && { costUsd: line.total_cost_usd }),
    };
    const isError = line.is_error === true || textOf(line.subtype) !== "success";
    // Words that are not a reply of the model, as of a command of its own, are the answer all the same.
    const structured = line.structured_output === undefined ? {} : { structured: line.structured_output };
    if (!isError) return { type: "done", text: text.whole || textOf(line.result), ...structured, ...ending };
    const errors = Array.isArray(line.errors) ? line.errors.map(String).join("; ") : "";
    const message = textOf(line.result) || errors || `Claude Code ended with ${textOf(line.subtype)}.`;
    return { type: "fail", message, code: failureCode(line), ...ending };
  }

  return (line) => {
    const read = isObject(line) && typeof line.type === "string" && Object.hasOwn(readers, line.type);
    const wasBegun = hasBegun;
    const events = read ? readers[line.type as string]!(line) : undefined;
    if (!events) return [{ type: "other", raw: line }];
    const told = carryLine("claude", line, events.length > 0 ? events : [remark(`line.${(line as JsonObject).type}`)]);
    // It does not say what it was asked.
    return hasBegun && !wasBegun ? [...told, { type: "user", text: prompt, carried: derived }] : told;
  };
}

function userEvent(text: string, at: number | undefined): AgentEvent {
  return { type: "user", text, ...(at !== undefined && { at }) };
}

function initOf(line: JsonObject): AgentEvent | undefined {
  if (typeof line.session_id !== "string") return undefined;
  return {
    type: "init",
    sessionId: line.session_id,
    cwd: textOf(line.cwd),
    permissionMode: textOf(line.permissionMode),
    apiKeySource: textOf(line.apiKeySource),
    ...(typeof line.model === "string" && { model: line.model }),
    ...(Array.isArray(line.tools) && { tools: line.tools.map(String) }),
    ...(Array.isArray(line.mcp_servers) && {
      mcpServers: line.mcp_servers.filter(isObject).map(({ name, status }) => ({
        name: textOf(name),
        status: textOf(status),
      })),
    }),
  };
}

function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value) || typeof value.input_tokens !== "number") return undefined;
  return {
    inputTokens: value.input_tokens,
    outputTokens: countOf(value.output_tokens),
    cacheReadTokens: countOf(value.cache_read_input_tokens),
    cacheWriteTokens: countOf(value.cache_creation_input_tokens),
  };
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => (isObject(block) ? textOf(block.text) : "")).join("");
}

/** Newer versions say so beside the result. */
function isRefused({ tool_result_meta: meta }: JsonObject, id: string): boolean {
  if (!Array.isArray(meta)) return false;
  const found = meta.filter(isObject).find((each) => each.id === id);
  return isObject(found?.permission_decision) && found.permission_decision.decision === "reject";
}

function denialsOf({ permission_denials: list }: JsonObject, reasons: ReadonlyMap<string, string>): Denial[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map(({ tool_name: tool, tool_use_id: id }) => ({
    tool: textOf(tool),
    callId: textOf(id),
    reason: reasons.get(textOf(id)) ?? "",
  }));
}

const failures: Readonly<Record<string, ErrorCode>> = {
  error_max_turns: "MAX_TURNS",
  error_max_budget_usd: "MAX_COST",
  error_max_structured_output_retries: "OUTPUT_SCHEMA",
};

const statuses: Readonly<Record<number, ErrorCode>> = {
  400: "MODEL_BAD_REQUEST",
  401: "MODEL_AUTH_ERROR",
  403: "MODEL_AUTH_ERROR",
  404: "MODEL_UNKNOWN",
  413: "MODEL_OVERFLOW",
  429: "MODEL_RATE_LIMIT",
  529: "MODEL_OVERLOADED",
};

function failureCode(line: JsonObject): ErrorCode {
  const status = countOf(line.api_error_status);
  if (status >= 400) return statuses[status] ?? (status >= 500 ? "MODEL_SERVER_ERROR" : "MODEL_BAD_REQUEST");
  const subtype = textOf(line.subtype);
  if (Object.hasOwn(failures, subtype)) return failures[subtype]!;
  return /Invalid API key|Please run \/login|Not logged in/.test(textOf(line.result))
    ? "NOT_AUTHENTICATED"
    : "CLI_FAILED";
}
