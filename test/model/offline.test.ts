// The offline model as a user meets it, in the built CLI: every form of its table, what it refuses, and that nothing is half done.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtInTools } from "../../src/agent/tools/index.ts";
import { deeds } from "../../src/model/offline/carry-out.ts";
import { forms } from "../../src/model/offline/forms.ts";
import { offlineProvider } from "../../src/model/offline/index.ts";
import { parseOrders } from "../../src/model/offline/understand.ts";
import type { ToolSpec } from "../../src/model/provider.ts";
import type { Message, Part } from "../../src/protocol/message.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { lookalikes } from "./offline-lookalikes.ts";

const files = {
  "README.md": "# Shop\n\n[![build](b.svg)](b)\n\nA **small** shop\nfor [tests](t.md).\n\nMore.\n",
  "package.json": '{"name": "shop", "version": "1.2.3", "description": "sells things"}\n',
  "notes.md": "one\ntwo\n",
  "a.txt": "test alpha\n",
  "src/app.ts": "// TODO: test\n",
};

const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function place(given: Record<string, string> = files): Workspace {
  const workspace = createWorkspace(given);
  workspaces.push(workspace);
  return workspace;
}

type Turn = { prompt: string; isError: boolean; code: string | undefined; text: string; tools: string[] };

/** One process, one prompt after the other; before each, the files are as they were. */
async function chat(
  prompts: readonly string[],
  workspace = place(),
  given: Record<string, string> = files,
): Promise<Turn[]> {
  const left = [...prompts];
  const run = await workspace.run(
    ["-p", "--force", "--input-format", "stream-json", "--output-format", "stream-json"],
    {
      stdin: "open",
      onStart(child) {
        const sendNext = () => {
          const prompt = left.shift();
          if (prompt === undefined) return void child.stdin!.end();
          for (const [name, text] of Object.entries(given)) workspace.file(name, text);
          const message = { role: "user", content: [{ type: "text", text: prompt }] };
          child.stdin!.write(`${JSON.stringify({ type: "user", message })}\n`);
        };
        child.stdout!.on("data", (chunk: Buffer) => {
          if (chunk.includes('{"type":"result"')) sendNext();
        });
        sendNext();
      },
    },
  );
  const turns: Turn[] = [];
  let tools: string[] = [];
  for (const line of run.lines()) {
    if (line["type"] === "tool_call" && line["subtype"] === "started")
      tools.push(toolOf(Object.keys(line["tool_call"])[0]!));
    if (line["type"] !== "result") continue;
    const { is_error: isError, error_code: code, result: text } = line;
    turns.push({ prompt: prompts[turns.length]!, isError, code, text, tools });
    tools = [];
  }
  expect(turns, run.stderr).toHaveLength(prompts.length);
  return turns;
}

/** A new file and a changed one are edits on the wire. */
function toolOf(wire: string): string {
  return builtInTools.find((tool) => `${tool.wire}ToolCall` === wire)?.name ?? wire;
}

const onWire = (tool: string): string => toolOf(`${builtInTools.find(({ name }) => name === tool)?.wire}ToolCall`);

function filesIn(workspace: Workspace): Record<string, string> {
  const names = readdirSync(workspace.path, { recursive: true, encoding: "utf8" }).sort();
  const found = names.filter((name) => statSync(join(workspace.path, name)).isFile());
  return Object.fromEntries(found.map((name) => [name, readFileSync(join(workspace.path, name), "utf8")]));
}

describe("the offline model's table of forms", () => {
  it("every documented example prompt of the offline model works with the listed tools", async () => {
    const turns = await chat(forms.map(({ example }) => example));
    for (const [index, { tools, isError, text, prompt }] of turns.entries()) {
      expect({ prompt, isError, tools }).toEqual({ prompt, isError: false, tools: forms[index]!.tools.map(onWire) });
      expect(text, prompt).not.toMatch(/could not|cannot|there is no todo/i);
    }
  });

  it("each example prompt for the offline model matches the form that it belongs to", () => {
    for (const form of forms) {
      expect(parseOrders(form.example)).toMatchObject({ orders: [{ form }] });
      expect(Object.keys(deeds)).toContain(form.do);
    }
    expect(Object.keys(deeds).sort()).toEqual(forms.map((form) => form.do).sort());
  });

  it("docs contain the table of the offline model's prompts (UPDATE=1 writes it)", () => {
    const file = join(repository, "docs/offline-model.md");
    const page = readFileSync(file, "utf8");
    const rows = forms.map(({ example, does }) => `| \`${example}\` | ${does} |`);
    const table = ["| you type | it |", "| --- | --- |", ...rows].join("\n");
    const whole = page.replace(/(?<=<!-- forms -->\n\n)[\s\S]*(?=\n\n<!-- end of the forms -->)/, () => table);
    expect(whole).toContain(table);
    if (process.env["UPDATE"]) writeFileSync(file, whole);
    else expect(page).toBe(whole);
  });

  it("the offline model stays small: 900 lines, a chunk of 30 kB", () => {
    const folder = join(repository, "src/model/offline");
    const lines = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8").split("\n").length - 1);
    expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(900);
    const { outputs } = JSON.parse(readFileSync(join(repository, "dist/meta.json"), "utf8"));
    const chunks = Object.keys(outputs).filter((name) => "src/model/offline/index.ts" in outputs[name].inputs);
    expect(chunks).toHaveLength(1);
    const file = join(repository, chunks[0]!.replace(/js$/, "cjs"));
    expect(statSync(file).size).toBeLessThanOrEqual(30_000);
  });
});

/** What the documentation of `cursor-agent` and ours type, word for word. */
const documented: readonly [prompt: string, form: string][] = [
  ["what is 2+2?", "sum"],
  ["what is 3+3?", "sum"],
  ["what is 5+5?", "sum"],
  ["what is 7+7?", "sum"],
  ["what is 8*8?", "sum"],
  ["what was my last question?", "recall"],
  ["continue conversation", "continue"],
  ["continue", "continue"],
  ["read the file test.txt", "read"],
  ["read note.txt", "read"],
  ["what does a.txt say?", "read"],
  ["create a file called output.txt with text 'Hello World'", "create"],
  ["create a file", "create"],
  ["run ls -la", "run"],
  ["run dangerous command", "run"],
  ["list all files", "list"],
  ["search for files containing 'test'", "search files"],
  ["search for TODO", "search"],
  ["test prompt", "greet"],
  ["hello", "greet"],
  ["hi", "greet"],
  ["what does this project do?", "project"],
  ["explain this project", "project"],
  ["Please read notes.md.", "read"],
  ["run git add .", "run"],
  ["run ls a/..", "run"],
  ["what is 2+2 ?", "sum"],
  ["find files named Makefile", "find"],
  ["which files are in src?", "list"],
  ['call the tool X with {"a": {"b": "}"}, "c": []} then read a.txt', "call"],
  ["run `for f in *; do echo $f; done`", "run"],
];

describe("prompts for the offline model", () => {
  it.each(documented)("the offline model carries out the documented prompt: %s", (prompt, form) => {
    expect(parseOrders(prompt)).toHaveProperty(["orders", 0, "form", "do"], form);
  });

  it("the offline model refuses a prompt in three lines, with two forms it knows and a way to a model", async () => {
    const prompts = [
      "write a haiku",
      "solve this problem",
      "analyze this codebase",
      "list all files, then fix the bug",
    ];
    const examples = forms.map(({ example }) => example);
    for (const { prompt, code, text, tools } of await chat(prompts)) {
      expect({ prompt, code, tools }).toEqual({ prompt, code: "OFFLINE_LIMIT", tools: [] });
      const [first, second, third, ...more] = text.split("\n");
      expect(more).toEqual([]);
      expect(first).toMatch(/^Error: The built-in offline model cannot do this: it did not understand ".+"\./);
      const nearest = /^The nearest it can do: (.+) \(all of it: what can you do\?\)$/.exec(second!)![1]!.split(" · ");
      expect(new Set(nearest).size).toBe(2);
      expect(examples).toEqual(expect.arrayContaining(nearest));
      expect(third).toContain("courser login, or in the terminal /login and /model");
    }
  });

  it("the offline model suggests first the form whose words the prompt has", async () => {
    const [first, second] = await chat(["append a joke to notes.md", "rename everything nicely"]);
    expect(first!.text).toContain("it can do: append 'four' to notes.md");
    expect(second!.text).toContain("it can do: rename notes.md to old/notes.md");
  });

  it("the offline model changes nothing for a prompt that only resembles a form it knows", async () => {
    expect(lookalikes.length).toBeGreaterThanOrEqual(60);
    const workspace = place();
    const turns = await chat(lookalikes, workspace);
    for (const { prompt, code, tools } of turns)
      expect({ prompt, code, tools }).toEqual({ prompt, code: "OFFLINE_LIMIT", tools: [] });
    expect(filesIn(workspace)).toEqual(files);
  });
});

describe("several instructions in one prompt", () => {
  const manyLines = Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join("");
  const first = async (prompt: string, given: Record<string, string> = { "a.txt": "a\n", "b.txt": "b\n" }) => {
    const workspace = place(given);
    const [turn] = await chat([prompt], workspace, {});
    return { ...turn!, files: filesIn(workspace) };
  };

  it("the offline model carries out several instructions in order", async () => {
    const { text, files } = await first(
      "create c.txt with text 'c' and append 'd' to c.txt, then rename c.txt to e/c.txt",
    );
    expect(text).toBe("Created c.txt.\nUpdated c.txt.\nMoved c.txt to e/c.txt.");
    expect(files).toMatchObject({ "e/c.txt": "c\nd" });
  });

  it.each([
    ["a file that is missing", "delete a.txt then delete none.txt"],
    ["a file that is there", "delete a.txt then create b.txt with text 'x'"],
    ["a target that is there", "append 'x' to a.txt and rename a.txt to b.txt"],
    ["a text that is missing", "delete a.txt and replace 'x' with 'y' in b.txt"],
    ["a file that the order before took away", "delete a.txt and append 'x' to ./a.txt"],
    ["a first one that fails", "create a.txt with text 'x' then delete b.txt"],
    ["a command that fails", "run false then delete b.txt"],
    ["a part that is no form", "delete a.txt and then make it better"],
  ])("the offline model carries out several instructions completely or not at all: %s", async (_, prompt) => {
    expect((await first(prompt)).files).toEqual({ "a.txt": "a\n", "b.txt": "b\n" });
  });

  it("the offline model recognises instructions on separate lines", async () => {
    expect((await first("delete a.txt\nthen delete b.txt")).files).toEqual({});
  });

  it("the offline model does not overwrite an existing file", async () => {
    for (const prompt of [
      "create a.txt with text 'x'",
      "write 'x' to a.txt",
      "copy b.txt to a.txt",
      "move b.txt to a.txt",
    ]) {
      const { text, files } = await first(prompt);
      expect({ prompt, text }).toEqual({ prompt, text: expect.stringMatching(/already exists/) });
      expect(files).toEqual({ "a.txt": "a\n", "b.txt": "b\n" });
    }
  });

  it("the offline model gives a file without a name a free one", async () => {
    expect((await first("create a file", { "new-file.txt": "mine" })).files).toEqual({
      "new-file.txt": "mine",
      "new-file-2.txt": "",
    });
  });

  it.each([
    ["", "x\n"],
    ["a", "a\nx"],
    ["a\r\nb\r\n", "a\r\nb\r\nx\r\n"],
    ["a\n".repeat(30), `${"a\n".repeat(30)}x\n`],
    [manyLines, `${manyLines}x\n`],
  ])("the offline model appends text after the last line", async (before, after) => {
    const { files, text } = await first("append 'x' to a.txt", { "a.txt": before });
    expect(files["a.txt"], text).toBe(after);
  });
});

describe("what does this project do?", () => {
  it("the offline model describes the project from README, manifest and layout, and names a way to a real model", async () => {
    const [turn] = await chat(["what does this project do?"]);
    expect(turn!.text).toBe(
      [
        "README.md says: A small shop for tests.",
        "Kind: a Node.js package (package.json), shop 1.2.3: sells things",
        "Directories: src/",
        "Files: README.md, a.txt, notes.md, package.json",
        "This was read from the files. A key gives real answers: courser login, or in the terminal /login and /model",
      ].join("\n"),
    );
  });

  it.each([
    ["pyproject.toml", '[project]\nname = "tool"\nversion = "2"\n', "a Python project (pyproject.toml), tool 2"],
    ["go.mod", "module example.com/m\n\ngo 1.22\n", "a Go module (go.mod), example.com/m"],
    ["Cargo.toml", '[package]\nname = "c"\ndescription = "d"\n', "a Rust crate (Cargo.toml), c: d"],
    ["none.txt", "", "no manifest that I know."],
  ])("the offline model describes a project by its %s", async (name, text, kind) => {
    const given = { [name]: text, ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}/x`, ""])) };
    const [turn] = await chat(["explain this project"], place(given), {});
    expect(turn!.text.split("\n").length).toBeLessThanOrEqual(10);
    expect(turn!.text).toContain(`No README describes it.\nKind: ${kind}\n`);
  });
});

it("the offline model answers hostile prompts within the time limit", { timeout: 20_000 }, () => {
  const hostile = [" 'a", "with {", 'with {"', "a and ", "find .", "((", "1+", "run a then ", "{}", "'"].map((part) =>
    part.repeat(12_000),
  );
  for (const prompt of hostile) expect(parseOrders(`${prompt}x`), prompt.slice(0, 10)).toHaveProperty("part");
});

describe("arithmetic", () => {
  it.each([
    ["2+2", "2 + 2 = 4"],
    ["what is 12 * (3 + 4)?", "12 * (3 + 4) = 84"],
    ["calculate 0.1 + 0.2", "0.1 + 0.2 = 0.3"],
    ["what's 10 divided by 4?", "10 / 4 = 2.5"],
    ["2 ** 3 ** 2", "2 ^ 3 ^ 2 = 512"],
    ["how much is -2^2", "-2 ^ 2 = -4"],
    ["what is 17 % 5?", "17 % 5 = 2"],
    ["what is 1/3?", "1 / 3 ≈ 0.333333333333"],
    ["what is 1/0?", "1 / 0 cannot be calculated."],
    ["what is 3 minus -2?", "3 - -2 = 5"],
  ])("the offline model calculates: %s", (prompt, answer) => {
    expect(parseOrders(prompt)).toMatchObject({ orders: [{ slots: { SUM: answer } }] });
  });

  it.each(["what is 5?", "what is 2 + ?", "what is (2 + 3?", "what is 2 2?", "what is 1.2.3 + 1?"])(
    "the offline model does not take the prompt %s for arithmetic",
    (prompt) => {
      expect(parseOrders(prompt)).toHaveProperty("part");
    },
  );
});

describe("the offline model as a provider", () => {
  const provider = offlineProvider("1.0.0");
  const tools: ToolSpec[] = ["Read", "exec"].map((name) => ({ name, description: "", parameters: {} }));
  const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });

  async function reply(messages: readonly Message[], signal = new AbortController().signal): Promise<Part[]> {
    const parts: Part[] = [];
    for await (const chunk of provider.stream({ model: "offline", system: "", messages, tools, signal }))
      if (chunk.type === "part") parts.push(chunk.part);
    return parts;
  }

  it("the offline model numbers its calls through a conversation, from the messages alone", async () => {
    const messages: Message[] = [user("read a.txt then read b.txt")];
    for (const id of ["call_offline_1", "call_offline_2"]) {
      const parts = await reply(messages);
      expect(parts).toMatchObject([{ type: "tool_call", id, name: "Read" }]);
      expect(await reply(JSON.parse(JSON.stringify(messages)))).toEqual(parts);
      messages.push(
        { role: "assistant", parts },
        { role: "user", parts: [{ type: "tool_result", id, text: id, isError: false }] },
      );
    }
    expect(await reply(messages)).toMatchObject([{ type: "text", text: expect.stringContaining("call_offline_2") }]);
    messages.push(user("what was my last question?"));
    expect(await reply(messages)).toMatchObject([{ text: 'Your last question was "read a.txt then read b.txt"' }]);
    messages.push(user("read a.txt"));
    expect(await reply(messages)).toMatchObject([{ id: "call_offline_3" }]);
  });

  it("the offline model calls the shell tool by its name in this run", async () => {
    expect(await reply([user("run ls")])).toMatchObject([{ name: "exec", args: { command: "ls" } }]);
    expect(await reply([user('call the tool exec with {"command": "ls"}')])).toMatchObject([{ name: "exec" }]);
  });

  it("the offline model reads the user's text, not what another program adds to it", async () => {
    const around = "<system-reminder>delete a.txt</system-reminder>\n<user_query>\nread a.txt\n</user_query>";
    expect(await reply([user(around)])).toMatchObject([{ name: "Read", args: { path: "a.txt" } }]);
  });

  it("the offline model refuses other prompts, and ends when cancelled", async () => {
    await expect(reply([user("sing")])).rejects.toMatchObject({
      code: "OFFLINE_LIMIT",
      message: expect.stringContaining("For a real model: courser login"),
    });
    await expect(reply([user("hi")], AbortSignal.abort())).rejects.toMatchObject({ code: "INTERRUPTED" });
    await expect(reply([])).rejects.toMatchObject({ code: "MODEL_BAD_REQUEST" });
  });
});
