// Todo lists as people read them.
import { expect, it } from "vitest";
import { shownTodos } from "../../src/view/todos.ts";

const item = (id: string, state: string, dependencies: string[] = []) => ({
  id,
  content: `do ${id}`,
  status: `TODO_STATUS_${state}`,
  dependencies,
});

it("names the open items that an open item waits for", () => {
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

it("shows what it does not know as an item to do, and nothing for what is no list", () => {
  expect(shownTodos([{ content: "one\n two", status: "BLOCKED" }, "text", null])).toEqual([
    { state: "PENDING", words: "one two" },
  ]);
  expect(shownTodos(undefined)).toEqual([]);
});
