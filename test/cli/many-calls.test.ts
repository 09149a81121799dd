// A reply with more calls than anybody needs: a bounded number is run, in bounded time, and the model is told.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace({ "a.txt": `${"a line\n".repeat(1000)}` });
});
afterEach(() => workspace.remove());

const many = (count: number, call: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => call(index));
const read = () => ({ name: "Read", args: { path: "a.txt", limit: 1 } });

test("a run executes the first 256 tool calls of a reply and answers the rest as too many", async () => {
  const replies = [{ calls: many(300, read) }, { expect: "Too many calls", text: "done" }];
  const run = await workspace.play(replies, ["--trust"]);
  const lines = run.lines();
  const count = (subtype: string) => lines.filter((line) => line["subtype"] === subtype).length;
  expect({ exit: run.exit, started: count("started"), completed: count("completed") }).toEqual({
    exit: 0,
    started: 256,
    completed: 256,
  });
  expect(run.notices()).toContain("The model made 300 calls in one reply: only the first 256 were run.");
});

test("--max-time ends a run during a flood of tool calls, and every started call gets its end event", async () => {
  const calls = many(2000, (index) => ({ name: "Shell", args: { command: `echo ${index}; sleep 0.1` } }));
  const run = await workspace.play([{ calls }], ["--trust", "--max-time", "2s"], { timeoutMs: 60_000 });
  const lines = run.lines();
  const started = lines.filter((line) => line["subtype"] === "started").map((line) => line["call_id"]);
  const ended = lines.filter((line) => line["subtype"] === "completed").map((line) => line["call_id"]);
  expect(new Set(ended)).toEqual(new Set(started));
  expect(lines.at(-1)).toMatchObject({ type: "result", error_code: "MAX_TIME" });
  expect(run.ms).toBeLessThan(8000);
});
