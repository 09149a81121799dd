import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { jsonSchemaOf, tool } from "../../../src/agent/tools/define.ts";
import { builtInTools, findTool } from "../../../src/agent/tools/index.ts";
import { TodoList, todoWrite } from "../../../src/agent/tools/todos.ts";
import { ToolFailure } from "../../../src/agent/tools/tool.ts";
import { workspace } from "./workspace.ts";

const sample = v.object({
  path: v.pipe(v.string(), v.description("Where")),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description("Lines"))),
  mode: v.optional(v.picklist(["a", "b"])),
  isDry: v.optional(v.boolean()),
  edits: v.array(v.object({ text: v.string(), all: v.optional(v.boolean()) })),
});

const sampleTool = tool({
  name: "Sample",
  wire: "sample",
  description: "",
  readOnly: true,
  args: sample,
  spellings: { file_path: "path" },
  wireArgs: (args) => args,
  needs: () => [],
  run: () => Promise.reject(new Error("not run")),
});

describe("tool()", () => {
  test("our compact tool schemas equal those of the full schema converter", () => {
    const { $schema: _, ...expected } = toJsonSchema(sample) as Record<string, unknown>;
    expect(jsonSchemaOf(sample)).toEqual(expected);
  });

  test.each<[string, unknown, string]>([
    ["missing", { edits: [] }, '"path" is missing'],
    ["type", { path: 5, edits: [] }, '"path" must be a string, got 5'],
    ["deep", { path: "a", edits: [{ text: 1 }] }, '"edits[0].text" must be a string, got 1'],
    ["deep and missing", { path: "a", edits: [{}] }, '"edits[0].text" is missing'],
    ["range", { path: "a", edits: [], limit: -1 }, '"limit" must be at least 1, got -1'],
    ["whole", { path: "a", edits: [], limit: 1.5 }, '"limit" must be an integer, got 1.5'],
    ["choice", { path: "a", edits: [], mode: "c" }, '"mode" must be one of a, b, got "c"'],
    ["list", { path: "a", edits: "x" }, '"edits" must be an array, got "x"'],
    ["what it takes", {}, "It takes path, limit?, mode?, isDry?, edits."],
    ["text", '{"path": "a', "not valid JSON"],
    ["list instead of object", ["a"], "must be one JSON object"],
    ["nothing", null, "must be one JSON object"],
  ])("invalid tool arguments are explained in a sentence: %s", (_, input, words) => {
    expect(() => sampleTool.parse(input)).toThrow(ToolFailure);
    expect(() => sampleTool.parse(input)).toThrow(words);
  });

  test("unknown keys and nulls in tool arguments are dropped, and other spellings accepted", () => {
    expect(sampleTool.parse({ file_path: "a", limit: null, edits: [{ text: "t", all: null }], why: "x" })).toEqual({
      path: "a",
      edits: [{ text: "t" }],
    });
    expect(sampleTool.parse({ path: "ours", file_path: "theirs", edits: [] })).toMatchObject({ path: "ours" });
  });
});

describe("the built-in tools", () => {
  test("the descriptions of all built-in tools together are small", () => {
    const specs = builtInTools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    expect(JSON.stringify(specs).length).toBeLessThan(8000);
  });

  test.each([
    ["Read", "Read"],
    ["read", "Read"],
    ["read_file", "Read"],
    ["edit", "Edit"],
    ["str_replace", "Edit"],
    ["MULTIEDIT", "Edit"],
    ["write_file", "Write"],
    ["ls", "LS"],
    ["list", "LS"],
    ["Bash", "Shell"],
    ["updateTodos", "TodoWrite"],
    ["rg", "Grep"],
    ["nothing", undefined],
  ])("the name %s in a call finds the built-in tool %s", (name, expected) => {
    expect(findTool(builtInTools, name)?.name).toBe(expected);
  });

  test("built-in tools have the documented names, wire names and needs", () => {
    expect(builtInTools.map((each) => `${each.name} ${each.wire}`)).toEqual([
      "LS ls",
      "Read read",
      "Write edit",
      "Edit edit",
      "Delete delete",
      "Glob glob",
      "Grep grep",
      "SemanticSearch semSearch",
      "Shell shell",
      "Await await",
      "TodoWrite updateTodos",
      "WebFetch webFetch",
      "WebSearch webSearch",
      "Task task",
      "AskQuestion askQuestion",
      "CreatePlan createPlan",
    ]);
  });
});

describe("TodoWrite", () => {
  test("the todo tool's merge accepts only id and status for existing items", async () => {
    const space = workspace();
    const todos = new TodoList();
    await space.call(todoWrite, { todos: [{ id: "1", content: "look", status: "pending" }] }, { todos });
    const done = { todos: [{ id: "1", status: "completed" }], merge: true };
    expect((await space.call(todoWrite, done, { todos })).text).toBe("[x] 1: look");
    const place = { callId: "c", sessionId: "s", workspace: "/w", roots: [], todos };
    expect(await todoWrite.wireArgs(todoWrite.parse(done), place)).toMatchObject({
      todos: [{ id: "1", content: "look" }],
    });
    const other = { todos: [{ id: "2", status: "completed" }], merge: true };
    expect((await space.fail(todoWrite, other, { todos })).message).toContain('see "2"');
    expect((await space.fail(todoWrite, { ...done, merge: false }, { todos })).message).toContain("content");
  });

  test("the todo tool replaces the list, then merges into it", async () => {
    const space = workspace();
    const todos = new TodoList();
    const first = { todos: [{ id: "1", content: "look", status: "in_progress" }] };
    const replaced = await space.call(todoWrite, first, { todos });
    expect(replaced.value).toEqual({
      todos: [
        {
          id: "1",
          content: "look",
          status: "TODO_STATUS_IN_PROGRESS",
          createdAt: expect.stringMatching(/^\d{13}$/),
          updatedAt: expect.stringMatching(/^\d{13}$/),
          dependencies: [],
        },
      ],
      totalCount: 1,
      wasMerge: false,
    });
    const merged = await space.call(
      todoWrite,
      {
        todos: [
          { id: "1", content: "look", status: "completed" },
          { id: "2", content: "leap", status: "pending" },
        ],
        merge: true,
      },
      { todos },
    );
    expect(merged.value).toMatchObject({ totalCount: 2, wasMerge: true });
    expect(merged.text).toBe("[x] 1: look\n[ ] 2: leap");
    expect(new TodoList(JSON.parse(JSON.stringify(todos.all()))).all()).toEqual(todos.all());
    expect(todoWrite.wireArgs(todoWrite.parse(first), space.context())).toMatchObject({
      todos: [{ id: "1", status: "TODO_STATUS_IN_PROGRESS", dependencies: [] }],
      merge: false,
    });
  });

  test("the todo tool gives each item its creation and change times", () => {
    const list = new TodoList();
    list.update([{ id: "a", content: "x", status: "pending" }], { at: 1 });
    list.update([{ id: "a", content: "x", status: "pending" }], { at: 2, merge: true });
    expect(list.all()[0]).toMatchObject({ createdAt: 1, updatedAt: 1 });
    list.update([{ id: "a", content: "x", status: "completed" }], { at: 3 });
    expect(list.all()).toMatchObject([{ createdAt: 1, updatedAt: 3 }]);
    list.update([{ id: "a", status: "completed", dependencies: ["b"] }], { at: 4, merge: true });
    expect(list.all()).toMatchObject([{ createdAt: 1, updatedAt: 4 }]);
  });

  test("the todo tool keeps dependencies, streams them with the result's times and shows them to the model", async () => {
    const space = workspace();
    const todos = new TodoList();
    const items = [
      { id: "a", content: "look", status: "in_progress" },
      { id: "b", content: "leap", status: "pending", dependencies: ["a"] },
    ];
    const args = todoWrite.parse({ todos: items });
    const shown = (await todoWrite.wireArgs(args, space.context({ todos }))) as { todos: unknown };
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { outcome, text } = await todoWrite.run(args, space.context({ todos }));
    const { todos: kept } = outcome.value as { todos: unknown[] };
    expect(kept).toEqual(shown.todos);
    expect(kept[1]).toMatchObject({ dependencies: ["a"] });
    expect(text).toBe("[>] a: look\n[ ] b: leap (after a)");
    const merged = await space.call(todoWrite, { todos: [{ id: "b", status: "in_progress" }], merge: true }, { todos });
    expect((merged.value as any).todos[1].dependencies).toEqual(["a"]);
    const wrong = { todos: [{ id: "c", content: "x", status: "pending", dependencies: ["z"] }], merge: true };
    expect((await space.fail(todoWrite, wrong, { todos })).message).toContain('No todo has the id "z"');
    expect(todos.all().map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("the todo tool refuses an empty item", async () => {
    const failure = await workspace().fail(todoWrite, { todos: [{ id: "1", content: "", status: "pending" }] });
    expect(failure.message).toContain("not empty");
  });
});
