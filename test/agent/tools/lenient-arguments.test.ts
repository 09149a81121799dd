// Fillers in optional fields and values in quotes, for every built-in tool: what is read is what was meant.
import { describe, expect, it } from "vitest";
import { builtInTools } from "../../../src/agent/tools/index.ts";

type Property = { type: string; minimum?: number; items?: Property; enum?: string[] };
type Schema = { properties: Record<string, Property>; required?: string[] };

/** What each must be given. */
const least: Record<string, Record<string, unknown>> = {
  LS: {},
  Read: { path: "a" },
  Write: { path: "a", content: "" },
  Edit: { path: "a", edits: [{ oldText: "a", newText: "" }] },
  Delete: { path: "a" },
  Glob: { pattern: "*" },
  Grep: { pattern: "a" },
  SemanticSearch: { query: "a" },
  Shell: { command: "ls" },
  Await: { taskId: "shell_1" },
  TodoWrite: { todos: [{ id: "1", content: "a", status: "pending" }] },
  WebFetch: { url: "https://example.com" },
  WebSearch: { query: "a" },
  Task: { description: "a", prompt: "a" },
  AskQuestion: { questions: [{ prompt: "a", options: [{ label: "b" }] }] },
  CreatePlan: { name: "a", plan: "b" },
};

/** A value of each kind that says something, and its text. */
const values: Record<string, unknown> = { string: "x", number: 3, integer: 3, boolean: true, array: ["x"] };

describe.each(builtInTools.map((tool) => [tool.name, tool] as const))("lenient arguments of %s", (name, tool) => {
  const { properties, required = [] } = tool.parameters as Schema;
  const minimal = least[name]!;
  const optional = Object.entries(properties).filter(([key]) => !required.includes(key));

  it("fillers in optional tool arguments count as absent", () => {
    const plain = tool.parse(minimal);
    for (const filler of ["", null]) {
      const filled = Object.fromEntries(optional.map(([key]) => [key, filler]));
      expect(tool.parse({ ...filled, ...minimal })).toEqual(plain);
    }
    const zero = optional.filter(([, { minimum }]) => (minimum ?? 0) > 0).map(([key]) => [key, 0]);
    expect(tool.parse({ ...Object.fromEntries(zero), ...minimal })).toEqual(plain);
  });

  it("quoted numbers, booleans and lists in tool arguments are converted", () => {
    for (const [key, property] of Object.entries(properties)) {
      const value = minimal[key] ?? (property.items?.type === "object" ? [] : values[property.type]);
      if (typeof value === "string") continue;
      const meant = tool.parse({ ...minimal, [key]: value });
      expect(tool.parse({ ...minimal, [key]: JSON.stringify(value) }), key).toEqual(meant);
    }
    expect(tool.parse(JSON.stringify(minimal))).toEqual(tool.parse(minimal));
  });

  it("missing and invalid tool arguments are still refused", () => {
    for (const key of required) {
      const { [key]: _left, ...rest } = minimal;
      if (key === "name" && name === "CreatePlan") continue; // taken from the plan
      expect(() => tool.parse(rest), key).toThrow(`"${key}"`);
    }
    for (const [key] of optional.filter(([, { type }]) => type !== "string"))
      expect(() => tool.parse({ ...minimal, [key]: "neither" }), key).toThrow(`"${key}" must be`);
  });
});

it("lenient parsing keeps zero and empty text in tool arguments if they are meaningful", () => {
  const grep = builtInTools.find(({ name }) => name === "Grep")!;
  expect(grep.parse({ pattern: "a", context: 0, headLimit: 0 })).toEqual({ pattern: "a", context: 0 });
  const write = builtInTools.find(({ name }) => name === "Write")!;
  expect(write.parse({ path: "", file_path: "a", content: "" })).toEqual({ path: "a", content: "" });
  expect(() => write.parse({ path: "", content: "" })).toThrow('"path" must not be empty');
});
