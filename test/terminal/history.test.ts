// The history across sessions: one file, several processes, no secrets in it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { redact } from "../../src/redact/redact.ts";
import { openPromptFile } from "../../src/store/prompt-history.ts";
import { createEditor } from "../../src/terminal/editor/editor.ts";
import { createHistory } from "../../src/terminal/editor/history.ts";
import { paste, press, shownLines, testPalette } from "./editor-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "history-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

function place() {
  const configDir = join(folder, String(++count));
  const session = (workspace = "/w/one") => {
    const history = createHistory({ file: openPromptFile({ configDir, workspace }), redact });
    return { history, editor: createEditor({ palette: testPalette, history }) };
  };
  return { configDir, session, file: join(configDir, "prompt-history.jsonl") };
}

describe("history across sessions", () => {
  it("the prompt history offers prompts of other sessions, this workspace's first", () => {
    const { session } = place();
    const send = (workspace: string, text: string) => {
      const { editor } = session(workspace);
      editor.setText(text);
      press(editor, "enter");
    };
    send("/w/one", "first here");
    send("/w/two", "there");
    send("/w/one", "second here");
    send("/w/one", "first here");
    const { history } = session("/w/one");
    expect(history.entries().map(({ text }) => text)).toEqual(["first here", "second here", "there"]);
  });

  it("the prompt history keeps folded pastes and shell mode", () => {
    const { session } = place();
    const { editor } = session();
    press(editor, "! make enter");
    press(editor, "see:");
    paste(editor, "row\n".repeat(30));
    press(editor, "enter");
    const later = session().editor;
    press(later, "up");
    expect(shownLines(later, { columns: 60, rows: 24 })).toEqual(["› see:[Pasted 30 lines #1]▏"]);
    expect(later.text()).toBe(`see:${"row\n".repeat(30)}`);
    press(later, "up");
    expect([later.text(), later.isShell()]).toEqual(["make", true]);
  });

  it("the prompt history is private, and has no secrets or lines that begin with a blank", () => {
    const { session, file } = place();
    const { editor, history } = session();
    const key = `sk-ant-api03-${"aB3".repeat(31)}`;
    for (const text of [`use ${key} now`, " private words"]) {
      editor.setText(text);
      press(editor, "enter");
    }
    press(editor, "token=");
    paste(editor, `ghp_${"a1B2".repeat(9)}\n${"x\n".repeat(20)}`);
    press(editor, "enter");
    const kept = readFileSync(file, "utf8");
    expect(kept).not.toMatch(/aB3aB3|a1B2a1B2|private words/);
    expect(kept).toContain("use [redacted] now");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(history.entries().map(({ text }) => text)).toContain(`use ${key} now`); // this session knows what was typed
  });

  it("the prompt history skips images and unknown entries", () => {
    const { session, file } = place();
    const { editor } = session();
    press(editor, "look");
    editor.insertImage({ mime: "image/png", base64: "QUJD" });
    press(editor, "enter");
    expect(readFileSync(file, "utf8")).not.toContain("QUJD");
    writeFileSync(file, `{"text":1}\nnot json\n${readFileSync(file, "utf8")}{"text":"cut`, { mode: 0o600 });
    expect(
      session()
        .history.entries()
        .map(({ text }) => text),
    ).toEqual(["look[Image 1]"]);
  });

  it("the prompt history drops its older half when it grows too large", () => {
    const { session, file } = place();
    const { history } = session();
    for (let number = 0; number < 25; number++)
      history.add({ text: `${number} ${"word ".repeat(20_000)}`, parts: new Map(), shell: false });
    expect(statSync(file).size).toBeLessThan(2.2 * 1024 * 1024);
    const kept = session().history.entries();
    expect(kept[0]!.text).toMatch(/^24 /);
    expect(kept.length).toBeGreaterThan(8);
  });

  it("a prompt history that cannot be stored is reported once", () => {
    const problems: unknown[] = [];
    writeFileSync(join(folder, "a-file"), "");
    const history = createHistory({
      file: openPromptFile({ configDir: join(folder, "a-file"), workspace: "/w" }),
      redact,
      onProblem: (problem) => problems.push(problem),
    });
    for (const text of ["one", "two"]) history.add({ text, parts: new Map(), shell: false });
    expect(problems.length).toBe(1);
    expect(history.entries().map(({ text }) => text)).toEqual(["two", "one"]);
  });

  it("parallel processes lose no entries of the prompt history", async () => {
    const { configDir, session } = place();
    const script = join(import.meta.dirname, "../../scripts/run-ts.mjs");
    const writers = [1, 2, 3].map(
      (number) =>
        new Promise<number | null>((resolve) =>
          spawn(process.execPath, [
            script,
            join(import.meta.dirname, "history-writer.ts"),
            configDir,
            String(number),
          ]).on("close", resolve),
        ),
    );
    expect(await Promise.all(writers)).toEqual([0, 0, 0]);
    expect(session("/w").history.entries().length).toBe(3 * 40);
  });
});
