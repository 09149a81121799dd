// TodoWrite: the session's to-do list, and the tool that changes it.
import * as v from "valibot";
import { tool } from "./define.ts";
import { failure } from "./tool.ts";

const statuses = ["pending", "in_progress", "completed", "cancelled"] as const;

export type Todo = {
  id: string;
  content: string;
  status: (typeof statuses)[number];
  /** When the item was created, in milliseconds since 1970; `updatedAt` is when it last changed. */
  createdAt: number;
  updatedAt: number;
  /** Ids of the items that must be done before this one. */
  dependencies: readonly string[];
};

/** An item as the model sends it. When merging, omitted fields keep their values. */
export type TodoItem = Pick<Todo, "id" | "status"> & {
  content?: string | undefined;
  dependencies?: readonly string[] | undefined;
};

/** Keeps the list in memory; `all()` returns plain data that a later session can start from. */
export class TodoList {
  #todos: Todo[];

  constructor(todos: readonly Todo[] = []) {
    this.#todos = [...todos];
  }

  all(): readonly Todo[] {
    return this.#todos;
  }

  become(todos: readonly Todo[]): void {
    this.#todos = [...todos];
  }

  /** Replaces the list; with `merge`, updates items with known ids and appends the others. */
  update(items: readonly TodoItem[], { merge = false, at }: { merge?: boolean | undefined; at: number }): void {
    const before = new Map(this.#todos.map((todo) => [todo.id, todo]));
    const after = new Map(merge ? before : []);
    for (const item of items) after.set(item.id, mergeTodo(before.get(item.id), item, { merge, at }));
    this.#todos = [...after.values()];
  }
}

/** Merges an update into a known item, whose creation time stays. Its update time changes only if it does. */
function mergeTodo(known: Todo | undefined, item: TodoItem, { merge, at }: { merge: boolean; at: number }): Todo {
  const left = merge ? known : undefined;
  const { id, status, content = left?.content ?? "", dependencies = left?.dependencies ?? [] } = item;
  const isSame =
    known?.content === content && known?.status === status && String(known.dependencies) === String(dependencies);
  return {
    id,
    content,
    status,
    dependencies,
    createdAt: known?.createdAt ?? at,
    updatedAt: isSame ? known.updatedAt : at,
  };
}

const marks = { pending: "[ ]", in_progress: "[>]", completed: "[x]", cancelled: "[-]" };

export const todoWrite = tool({
  name: "TodoWrite",
  wire: "updateTodos",
  aliases: ["update_todos", "todo_write"],
  description: "The task list: have one item in_progress; complete items as you finish them.",
  readOnly: true,
  args: v.object({
    todos: v.array(
      v.object({
        id: v.string(),
        content: v.optional(v.string()),
        status: v.picklist(statuses),
        dependencies: v.optional(v.pipe(v.array(v.string()), v.description("Ids to be done first"))),
      }),
    ),
    merge: v.optional(
      v.pipe(v.boolean(), v.description("Update by id instead of replacing the list; content may be left out")),
    ),
  }),
  wireArgs(args, { todos }) {
    const list = new TodoList(todos?.all());
    list.update(args.todos, { merge: args.merge, at: callTime(args) });
    const named = new Map(list.all().map((todo) => [todo.id, todo]));
    return { todos: args.todos.map(({ id }) => todoOnWire(named.get(id)!)), merge: args.merge ?? false };
  },
  needs: () => [],
  async run(args, { todos: list }) {
    const next = new TodoList(list.all());
    next.update(args.todos, { merge: args.merge, at: callTime(args) });
    const todos = next.all();
    const empty = todos.find((item) => item.id === "" || item.content === "");
    if (empty)
      throw failure(`Each todo needs an id and a content that are not empty: see ${JSON.stringify(empty.id)}.`);
    const ids = new Set(todos.map(({ id }) => id));
    const unknown = todos.flatMap(({ dependencies }) => dependencies).find((id) => !ids.has(id));
    if (unknown !== undefined)
      throw failure(`No todo has the id ${JSON.stringify(unknown)}, which another depends on.`);
    list.become(todos);
    const lines = todos.map(
      ({ status, id, content, dependencies }) =>
        `${marks[status]} ${id}: ${content}${dependencies.length > 0 ? ` (after ${dependencies.join(", ")})` : ""}`,
    );
    return {
      outcome: {
        kind: "success",
        value: { todos: todos.map(todoOnWire), totalCount: todos.length, wasMerge: args.merge ?? false },
      },
      text: lines.length > 0 ? lines.join("\n") : "The list is empty.",
    };
  },
});

const times = new WeakMap<object, number>();

/** Returns when a call was made, so that its arguments and its result show the same time. */
function callTime(args: object): number {
  const at = times.get(args) ?? Date.now();
  times.set(args, at);
  return at;
}

function todoOnWire(todo: Todo) {
  return {
    id: todo.id,
    content: todo.content,
    status: `TODO_STATUS_${todo.status.toUpperCase()}`,
    createdAt: String(todo.createdAt),
    updatedAt: String(todo.updatedAt),
    dependencies: todo.dependencies,
  };
}
