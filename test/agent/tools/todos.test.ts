import { expect, it } from "vitest";
import { TodoList } from "../../../src/agent/tools/todos.ts";

const items = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ id: `${from + at}`, content: `do ${at}`, status: "pending" as const }));

it("merging todos changes items in place and appends others; replacing them keeps creation times", () => {
  const list = new TodoList();
  list.update(items(3), { at: 1 });
  list.update([{ id: "1", status: "completed" }, ...items(1, 3)], { merge: true, at: 2 });
  expect(list.all().map(({ id, status, createdAt, updatedAt }) => [id, status, createdAt, updatedAt])).toEqual([
    ["0", "pending", 1, 1],
    ["1", "completed", 1, 2],
    ["2", "pending", 1, 1],
    ["3", "pending", 2, 2],
  ]);
  list.update(
    [
      { id: "3", content: "do 0", status: "pending" },
      { id: "0", content: "other", status: "pending" },
      { id: "3", content: "twice", status: "pending" },
    ],
    { at: 3 },
  );
  expect(list.all().map(({ id, content, createdAt }) => [id, content, createdAt])).toEqual([
    ["3", "twice", 2],
    ["0", "other", 1],
  ]);
});

it("merging many todos takes time in proportion to their number", () => {
  const msFor = (count: number) => {
    const startedAt = performance.now();
    const list = new TodoList();
    list.update(items(count), { at: 1 });
    list.update(items(count), { merge: true, at: 2 });
    return performance.now() - startedAt;
  };
  msFor(2000);
  expect(msFor(40_000)).toBeLessThan(100 * Math.max(1, msFor(4000)));
});
