// Reads a todo list from the wire, for display in the terminal, the studio and exports.
import { isObject } from "../json/object.ts";

export type TodoState = "PENDING" | "IN_PROGRESS" | "COMPLETED" | "CANCELLED";

export type ShownTodo = {
  state: TodoState;
  /** The text of the task, with the unfinished tasks it depends on. */
  words: string;
};

const states: readonly string[] = ["PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED"] satisfies TodoState[];

export function shownTodos(todos: unknown): ShownTodo[] {
  const items = (Array.isArray(todos) ? todos : []).filter(isObject);
  const open = new Map(items.filter((item) => isOpen(todoState(item.status))).map((item) => [item.id, item.content]));
  return items.map(({ status, content, dependencies }) => {
    const state = todoState(status);
    const words = typeof content === "string" ? content.replace(/\s+/g, " ") : "";
    const waitsFor = isOpen(state) && Array.isArray(dependencies) ? dependencies.filter((id) => open.has(id)) : [];
    return {
      state,
      words: waitsFor.length === 0 ? words : `${words} (after ${waitsFor.map((id) => open.get(id)).join(", ")})`,
    };
  });
}

function todoState(status: unknown): TodoState {
  const state = String(status).replace("TODO_STATUS_", "").toUpperCase();
  return states.includes(state) ? (state as TodoState) : "PENDING";
}

function isOpen(state: TodoState): boolean {
  return state === "PENDING" || state === "IN_PROGRESS";
}
