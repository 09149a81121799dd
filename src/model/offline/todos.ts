// Reads the todo list of a conversation from its TodoWrite calls.
import type { Message } from "../../protocol/message.ts";

export type Todo = { id: string; content: string; status: string };

export function todosIn(messages: readonly Message[]): Todo[] {
  const parts = messages.flatMap((message) => message.parts);
  const failed = new Set(parts.map((part) => part.type === "tool_result" && part.isError && part.id));
  let todos: Todo[] = [];
  for (const part of parts) {
    if (part.type !== "tool_call" || part.name !== "TodoWrite" || failed.has(part.id)) continue;
    const { todos: given, merge } = (part.args ?? {}) as { todos?: Todo[]; merge?: boolean };
    const written = Array.isArray(given) ? given.filter((one) => typeof one?.content === "string") : [];
    const keptTodos = todos.filter(({ id }) => merge && !written.some((other) => other.id === id));
    todos = [...keptTodos, ...written];
  }
  return todos;
}

export function todoList(todos: readonly Todo[]): string {
  if (todos.length === 0) return "The todo list is empty.";
  const marks: Record<string, string> = { completed: "[x]", in_progress: "[~]", cancelled: "[-]" };
  return todos.map((todo) => `${todo.id}. ${marks[todo.status] ?? "[ ]"} ${todo.content}`).join("\n");
}
