// Completion: `@` files and `/` commands, as a list under the editor.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { createProcessRunner } from "../../src/agent/process.ts";
import { completionText, fileChoices, queryAt, withFolders } from "../../src/terminal/editor/completion.ts";
import { createEditor } from "../../src/terminal/editor/editor.ts";
import { workspaceFiles } from "../../src/terminal/workspace-files.ts";
import { processorMs } from "../support/processor-time.ts";
import { press, shownLines, testPalette } from "./editor-kit.ts";

const screen = { columns: 60, rows: 24 };
const files = ["src/terminal/editor.ts", "src/terminal/screen.ts", "docs/editor guide.md", "README.md"];
const commands = [
  { name: "/model", description: "choose a model" },
  { name: "/mcp", description: "MCP servers" },
  { name: "/rename", description: "rename the session", needsArgument: true },
];

async function editorWithFiles() {
  const editor = createEditor({
    palette: testPalette,
    complete: { commands: () => commands, files: async () => files },
  });
  press(editor, "@");
  await sleep(0); // the files are asked for with the first @
  press(editor, "backspace");
  return editor;
}

describe("completion in the editor", () => {
  it("completion knows whether a command, a file or neither is being typed", () => {
    expect(queryAt("/mo", 3)).toEqual({ kind: "command", start: 0, query: "mo" });
    expect(queryAt("a /mo", 5)).toBeUndefined();
    expect(queryAt("/usr/bin", 8)).toBeUndefined();
    expect(queryAt("see @src/a", 10)).toEqual({ kind: "file", start: 4, query: "src/a" });
    expect(queryAt('see @"my fi', 11)).toEqual({ kind: "file", start: 4, query: "my fi" });
    expect(queryAt("me@example", 10)).toBeUndefined();
    expect(queryAt("(@x", 3)).toMatchObject({ start: 1, query: "x" });
  });

  it("completion puts the likeliest choice first", () => {
    const all = withFolders(["src/terminal/editor/editor.ts", "src/editorial.md", "test/medit.ts", "docs/e/d/i/t.ts"]);
    expect(fileChoices("edit", all).map(({ value }) => value)).toEqual([
      "src/editorial.md",
      "src/terminal/editor/",
      "src/terminal/editor/editor.ts",
      "test/medit.ts",
      "docs/e/d/i/t.ts",
    ]);
    expect(fileChoices("ste", all)[0]?.value).toBe("src/terminal/");
    expect(fileChoices("zzz", all)).toEqual([]);
    expect(fileChoices("src/", all).map(({ value }) => value)).not.toContain("src/");
  });

  it("completion finds a slash command by its aliases, and never runs a guess", () => {
    const choices = [
      { name: "/rewind", description: "go back", aliases: ["undo", "restore"] },
      { name: "/status-indicators", description: "the title" },
    ];
    const editor = createEditor({ palette: testPalette, complete: { commands: () => choices, files: async () => [] } });
    press(editor, "/undo");
    expect(shownLines(editor, screen).slice(1)).toEqual([
      "› /rewind             go back (/undo)",
      "  /status-indicators  the title",
      "  1 of 2 commands",
    ]);
    expect(press(editor, "enter")).toMatchObject({ type: "submit", text: "/rewind" });
    // Letters that happen to be in a name: the first Enter writes it out, the second sends it.
    expect(press(editor, "/tdo enter")).toEqual({ type: "handled" });
    expect(editor.text()).toBe("/status-indicators ");
    expect(press(editor, "enter")).toMatchObject({ type: "submit", text: "/status-indicators " });
  });

  it("completion quotes file names the way mentions are read", () => {
    const query = { kind: "file", start: 0, query: "" } as const;
    expect(completionText(query, { value: "a.ts", detail: "" })).toBe("@a.ts ");
    expect(completionText(query, { value: "my file.ts", detail: "" })).toBe('@"my file.ts" ');
    expect(completionText(query, { value: "src/", detail: "", isFolder: true })).toBe("@src/");
  });

  it("in the terminal's completion Tab or Enter takes a file, and opens a folder", async () => {
    const editor = await editorWithFiles();
    press(editor, "see space @ screen");
    expect(shownLines(editor, screen)).toEqual(["› see @screen▏", "› src/terminal/screen.ts"]);
    expect(press(editor, "enter")).toEqual({ type: "handled" });
    expect(editor.text()).toBe("see @src/terminal/screen.ts ");
    press(editor, "@ s r c tab");
    expect(editor.text()).toBe("see @src/terminal/screen.ts @src/");
    expect(shownLines(editor, screen).length).toBeGreaterThan(1);
    press(editor, "escape");
    expect(shownLines(editor, screen).length).toBe(1);
    expect(press(editor, "enter").type).toBe("submit");
  });

  it("arrows choose a completion, and Escape closes the list until something else is typed", async () => {
    const editor = await editorWithFiles();
    press(editor, "@ t e down");
    const chosen = shownLines(editor, screen).findIndex((line, row) => row > 0 && line.startsWith("› "));
    expect(chosen).toBe(2);
    press(editor, "up up escape");
    expect(shownLines(editor, screen).length).toBe(1);
    press(editor, "r");
    expect(shownLines(editor, screen).length).toBe(1);
    press(editor, "space @");
    expect(shownLines(editor, screen).length).toBeGreaterThan(1);
  });

  it("in the terminal's completion Enter sends a command unless it needs arguments", async () => {
    const editor = await editorWithFiles();
    press(editor, "/ m o");
    expect(shownLines(editor, screen)).toEqual(["› /mo▏", "› /model  choose a model"]);
    expect(press(editor, "enter")).toMatchObject({ type: "submit", text: "/model" });
    expect(press(editor, "/ r e n enter")).toEqual({ type: "handled" });
    expect(editor.text()).toBe("/rename ");
    editor.clear();
    press(editor, "/ z z");
    expect(press(editor, "enter")).toMatchObject({ type: "submit", text: "/zz" });
    expect(press(editor, "! /")).toEqual({ type: "handled" });
    expect(shownLines(editor, screen)).toEqual(["! /▏"]);
  });

  it("completion searches 50,000 files within a key press", () => {
    const all = withFolders(
      Array.from({ length: 50_000 }, (_, index) => `packages/p${index % 300}/src/part-${index}.ts`),
    );
    fileChoices("part", all);
    expect(processorMs(() => void fileChoices("p12part9", all))).toBeLessThan(400); // about 30
  });
});

describe("files offered by completion", () => {
  const workspace = mkdtempSync(join(tmpdir(), "files-"));
  afterAll(() => rmSync(workspace, { recursive: true, force: true }));

  it("completion does not offer ignored files", async () => {
    mkdirSync(join(workspace, "src"));
    mkdirSync(join(workspace, "node_modules"));
    for (const name of ["src/a.ts", "b c.md", "node_modules/x.js", ".env"]) writeFileSync(join(workspace, name), "");
    writeFileSync(join(workspace, ".gitignore"), "node_modules\n");
    const processes = createProcessRunner();
    const { signal } = new AbortController();
    expect(await workspaceFiles({ workspace, processes, signal })).toEqual([
      ".env",
      ".gitignore",
      "b c.md",
      "src/a.ts",
    ]);
    expect(
      await workspaceFiles({ workspace, processes, signal, mayRead: (path) => !path.endsWith(".env") }),
    ).not.toContain(".env");
  });
});
