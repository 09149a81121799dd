// Lines of Codex (`codex exec --json`) -> events.

import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import type { AgentEvent, Outcome, Usage } from "../../protocol/event.ts";
import { derived } from "../../protocol/stream-json.ts";
import { shellRun } from "../wire-calls.ts";
import { carryLine } from "./carry.ts";
import type { DriverRequest } from "./driver.ts";
import { countOf, type ForeignCall, ForeignCalls, ForeignText, remark, textOf } from "./foreign-calls.ts";

type CodexRequest = Pick<DriverRequest, "prompt" | "cwd" | "model" | "permissionMode">;

/** An item that is a call: what was called, and how it ended once it did. */
type CallItem = {
  call(item: JsonObject): Omit<ForeignCall, "id">;
  end(item: JsonObject): { text: string; isError: boolean; refused?: boolean; outcome?: Outcome };
};

const callItems: Readonly<Record<string, CallItem>> = {
  command_execution: {
    call: ({ command }) => ({ name: "shell", input: { command } }),
    end(item) {
      const text = textOf(item.aggregated_output);
      if (item.status === "declined") return { text: text || "It was declined.", isError: true, refused: true };
      const exitCode = typeof item.exit_code === "number" ? item.exit_code : -1;
      const value = shellRun({ command: item.command }, text, exitCode);
      return { text, isError: exitCode !== 0, outcome: { kind: exitCode === 0 ? "success" : "failure", value } };
    },
  },
  file_change: {
    call({ changes }) {
      const list = Array.isArray(changes) ? changes.filter(isObject) : [];
      return { name: "file_change", input: { path: textOf(list[0]?.path), changes: list } };
    },
    end: ({ status, changes }) => {
      const list = Array.isArray(changes) ? changes.filter(isObject) : [];
      const text = list.map(({ kind, path }) => `${textOf(kind)} ${textOf(path)}`).join("\n");
      return { text, isError: status === "failed", refused: status === "declined" };
    },
  },
  mcp_tool_call: {
    call: ({ server, tool, arguments: input }) => ({ name: `mcp__${textOf(server)}__${textOf(tool)}`, input }),
    end({ result, error, status }) {
      if (isObject(error)) return { text: textOf(error.message), isError: true };
      const content = isObject(result) && Array.isArray(result.content) ? result.content : [];
      const text = content.map((block) => (isObject(block) ? textOf(block.text) : "")).join("");
      return { text, isError: status === "failed" };
    },
  },
  web_search: {
    call: ({ query }) => ({ name: "web_search", input: { query } }),
    end: () => ({ text: "", isError: false }),
  },
  todo_list: {
    call({ items }) {
      const list = Array.isArray(items) ? items.filter(isObject) : [];
      const plan = list.map(({ text, completed }) => ({ step: text, status: completed ? "completed" : "pending" }));
      return { name: "update_plan", input: { plan } };
    },
    end: () => ({ text: "", isError: false }),
  },
};

export function codexDecoder({ prompt, cwd, model, permissionMode }: CodexRequest): (line: unknown) => AgentEvent[] {
  const calls = new ForeignCalls("codex");
  const text = new ForeignText();
  const startedAt = Date.now();
  let lastError = "";

  const readers: Readonly<Record<string, (line: JsonObject) => AgentEvent[] | undefined>> = {
    "thread.started": ({ thread_id: sessionId }) => [
      {
        type: "init",
        sessionId: textOf(sessionId),
        cwd,
        permissionMode,
        apiKeySource: "",
        ...(model !== undefined && { model }),
      },
    ],
    "turn.started": () => [remark("turn_started")],
    "turn.completed": (line) => [
      ...text.flush(),
      { type: "done", text: text.whole, ...durations(), ...usageField(line) },
    ],
    "turn.failed"(line) {
      const message =
        reasonIn(isObject(line.error) ? textOf(line.error.message) : "") || lastError || "The turn failed.";
      return [...text.flush(), { type: "fail", message, code: "CLI_FAILED", ...durations(), ...usageField(line) }];
    },
    error(line) {
      lastError = reasonIn(textOf(line.message));
      return [remark("error", lastError)];
    },
    "item.started": ({ item }) => itemEvents(item, "started"),
    "item.updated": ({ item }) => itemEvents(item, "updated"),
    "item.completed": ({ item }) => itemEvents(item, "completed"),
  };

  function itemEvents(item: unknown, phase: "started" | "updated" | "completed"): AgentEvent[] | undefined {
    if (!isObject(item) || typeof item.id !== "string") return undefined;
    const kind = textOf(item.type);
    const isOver = phase === "completed";
    switch (kind) {
      case "agent_message":
        return isOver ? text.segment(textOf(item.text)) : text.delta("");
      case "reasoning":
        return isOver ? [{ type: "thinking", text: textOf(item.text) }, { type: "thinking_end" }] : [];
      case "error":
        return [remark("error", textOf(item.message))];
    }
    if (!Object.hasOwn(callItems, kind)) return undefined;
    const { call, end } = callItems[kind]!;
    const isOpen = calls.has(item.id);
    const begun = isOpen ? [] : [...text.flush(), calls.start({ id: item.id, ...call(item) })];
    if (isOver) return [...begun, calls.end(item.id, end(item))];
    return begun;
  }

  function durations(): { durationMs: number; apiDurationMs: number } {
    // It does not say how long it took.
    const durationMs = Date.now() - startedAt;
    return { durationMs, apiDurationMs: durationMs };
  }

  return (line) => {
    const isKnown = isObject(line) && typeof line.type === "string" && Object.hasOwn(readers, line.type);
    const events = isKnown ? readers[line.type as string]!(line) : undefined;
    if (!events) return [{ type: "other", raw: line }];
    const { type } = line as JsonObject;
    const told = carryLine("codex", line, events.length > 0 ? events : [remark(`line.${textOf(type)}`)]);
    return type === "thread.started" ? [...told, { type: "user", text: prompt, carried: derived }] : told;
  };
}

function usageField({ usage }: JsonObject): { usage?: Usage } {
  if (!isObject(usage)) return {};
  return {
    usage: {
      // What came from the cache is part of the input here, and beside it elsewhere.
      inputTokens: Math.max(0, countOf(usage.input_tokens) - countOf(usage.cached_input_tokens)),
      outputTokens: countOf(usage.output_tokens),
      cacheReadTokens: countOf(usage.cached_input_tokens),
      cacheWriteTokens: countOf(usage.cache_write_input_tokens),
    },
  };
}

/** Errors of the model come as the JSON that the vendor sent. */
function reasonIn(message: string): string {
  const parsed = tryParse(message);
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : undefined;
  return textOf(error?.message) || message;
}
