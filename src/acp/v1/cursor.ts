// The extensions of Cursor's CLI, for clients that announce them: plan approval, and notifications about todos and subagents.
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { PlanQuestion } from "../../protocol/run.ts";
import type { CursorMethod } from "./initialize.ts";
import type { WireCall } from "./tool-call.ts";

export function cursorPlan({ name, text, ...question }: PlanQuestion & { id: string }, call: WireCall | undefined) {
  const { overview, todos, isProject, phases } = isObject(call?.args) ? call.args : {};
  return {
    toolCallId: call?.callId ?? question.id,
    name,
    ...(typeof overview === "string" && overview !== "" && { overview }),
    plan: text,
    todos: todosOf(todos),
    isProject: isProject === true,
    phases: Array.isArray(phases) ? phases : [],
  };
}

type Notification = { method: CursorMethod; params: JsonObject };

/** Returns the extension notification for a finished tool call, if there is one. */
export function cursorNotification(event: AgentEvent): Notification | undefined {
  if (event.type !== "tool_end" || event.outcome?.kind !== "success") return undefined;
  const { callId: toolCallId, tool } = event;
  const args = fieldsOf(event.args);
  const value = fieldsOf(event.outcome.value);
  if (tool === "updateTodos") {
    const params = { toolCallId, todos: todosOf(value["todos"]), merge: false };
    return { method: "update_todos", params };
  }
  if (tool !== "task") return undefined;
  const { description = "", prompt = "", subagentType, model } = args;
  const { agentId, durationMs } = value;
  return {
    method: "task",
    params: {
      toolCallId,
      description,
      prompt,
      subagentType,
      ...(typeof model === "string" && { model }),
      ...(typeof agentId === "string" && { agentId }),
      ...(durationMs !== undefined && { durationMs: Number(durationMs) }),
    },
  };
}

/** Spells statuses as clients expect: pending, in_progress, completed, cancelled. */
function todosOf(todos: unknown): JsonObject[] {
  if (!Array.isArray(todos)) return [];
  return todos.filter(isObject).map(({ id, content, status }) => ({
    id,
    content,
    status: String(status)
      .replace(/^TODO_STATUS_/, "")
      .toLowerCase(),
  }));
}
