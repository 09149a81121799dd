// TodoWrite: the list of what is to be done in a session, and the tool that changes it.
import * as v from "valibot";
import { tool } from "./define.ts";
import { failure } from "./tool.ts";

const statuses = ["pending", "in_progress", "completed", "cancelled"] as const;

export type Todo = {
  id: string;
  content: string;
  status: (typeof statuses)[number];
  /** Milliseconds. */
  createdAt: number;
  updatedAt: number;
  dependencies: string[];
};

/** What a model says of an item. */
export type TodoItem = Pick<Todo, "id" | "content" | "status">;

/** In memory; `all()` is plain data, from which a later session can start again. */
export class TodoList {
  #todos: Todo[];

  constructor(todos: readonly Todo[] = []) {
    this.#todos = [...todos];
  }

  all(): readonly Todo[] {
    return this.#todos;
  }

  /** The list becomes these items. An item that was there keeps the time of its making. */
  replace(items: readonly TodoItem[], at = Date.now()): void {
    const before = this.#todos;
    this.#todos = [];
    for (const item of items) this.#put(item, at, before);
  }

  /** Items with known ids change, others are added at the end. */
  merge(items: readonly TodoItem[], at = Date.now()): void {
    for (const item of items) this.#put(item, at, this.#todos);
  }

  #put(item: TodoItem, at: number, before: readonly Todo[]): void {
    const known = before.find((todo) => todo.id === item.id);
    const isSame = known?.content === item.content && known.status === item.status;
    const todo: Todo = {
      id: item.id,
      content: item.content,
      status: item.status,
      createdAt: known?.createdAt ?? at,
      updatedAt: isSame ? known.updatedAt : at,
      dependencies: known?.dependencies ?? [],
    };
    const place = this.#todos.findIndex((each) => each.id === item.id);
    if (place === -1) this.#todos.push(todo);
    else this.#todos[place] = todo;
  }
}

const marks = { pending: "[ ]", in_progress: "[>]", completed: "[x]", cancelled: "[-]" };

export const todoWrite = tool({
  name: "TodoWrite",
  wire: "updateTodos",
  aliases: ["update_todos", "todo_write"],
  description:
    "Keep a task list for work of several steps. Have one item in_progress; complete items as you finish them.",
  readOnly: true,
  args: v.object({
    todos: v.array(v.object({ id: v.string(), content: v.optional(v.string()), status: v.picklist(statuses) })),
    merge: v.optional(
      v.pipe(v.boolean(), v.description("Update by id instead of replacing the list; content may be left out")),
    ),
  }),
  wireArgs(args, { todos: list }) {
    const now = Date.now();
    const todos = whole(args, list).map((item) =>
      onWire({ ...item, createdAt: now, updatedAt: now, dependencies: [] }),
    );
    return { todos, merge: args.merge ?? false };
  },
  needs: () => [],
  async run(args, context) {
    const list = context.todos;
    const items = whole(args, list);
    const empty = items.find((item) => item.id === "" || item.content === "");
    if (empty)
      throw failure(`Each todo needs an id and a content that are not empty: see ${JSON.stringify(empty.id)}.`);
    if (args.merge) list.merge(items);
    else list.replace(items);
    const todos = list.all();
    const lines = todos.map((todo) => `${marks[todo.status]} ${todo.id}: ${todo.content}`);
    return {
      outcome: {
        kind: "success",
        value: { todos: todos.map(onWire), totalCount: todos.length, wasMerge: args.merge ?? false },
      },
      text: lines.length > 0 ? lines.join("\n") : "The list is empty.",
    };
  },
});

/** Who changes the status of an item need not repeat its words. */
function whole(
  {
    todos,
    merge,
  }: { todos: readonly (Omit<TodoItem, "content"> & { content?: string | undefined })[]; merge?: boolean | undefined },
  list: TodoList | undefined,
): TodoItem[] {
  const known = merge ? (list?.all() ?? []) : [];
  return todos.map(({ content, ...item }) => ({
    ...item,
    content: content ?? known.find(({ id }) => id === item.id)?.content ?? "",
  }));
}

function onWire(todo: Todo) {
  return {
    id: todo.id,
    content: todo.content,
    status: `TODO_STATUS_${todo.status.toUpperCase()}`,
    createdAt: String(todo.createdAt),
    updatedAt: String(todo.updatedAt),
    dependencies: todo.dependencies,
  };
}
