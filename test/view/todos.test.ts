// Todo lists as people read them.
import { expect, it } from "vitest";
import { shownTodos } from "../../src/view/todos.ts";

const item = (id: string, state: string, dependencies: string[] = []) => ({
  id,
  content: `do ${id}`,
  status: `TODO_STATUS_${state}`,
  dependencies,
});

it("the open items that block an open item are named", () => {
  const todos = [
    item("a", "COMPLETED"),
    item("b", "IN_PROGRESS", ["a"]),
    item("c", "PENDING", ["a", "b"]),
    item("d", "CANCELLED", ["c"]),
  ];
  expect(shownTodos(todos)).toEqual([
    { state: "COMPLETED", words: "do a" },
    { state: "IN_PROGRESS", words: "do b" },
    { state: "PENDING", words: "do c (after do b)" },
    { state: "CANCELLED", words: "do d" },
  ]);
});

it("a todo with an unknown status counts as to do, and a list of another shape shows nothing", () => {
  expect(shownTodos([{ content: "one\n two", status: "BLOCKED" }, "text", null])).toEqual([
    { state: "PENDING", words: "one two" },
  ]);
  expect(shownTodos(undefined)).toEqual([]);
});
