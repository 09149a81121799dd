import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, symlinkSync, writeSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { read } from "../../../src/agent/tools/read.ts";
import { simplePdf } from "../../support/simple-pdf.ts";
import { workspace } from "./workspace.ts";

describe("Read in the stream", () => {
  test("the stream shows a Read of a whole file as documented", async () => {
    const space = workspace({ "test.txt": "Hello from test file\n" });
    const result = await space.call(read, { path: "test.txt" });
    expect(result.outcome).toEqual({
      kind: "success",
      value: {
        content: "Hello from test file\n",
        isEmpty: false,
        exceededLimit: false,
        totalLines: 2,
        fileSize: 21,
        path: space.path("test.txt"),
        readRange: { startLine: 1, endLine: 2 },
        relatedCursorRulePaths: [],
        relatedCursorRules: [],
      },
    });
    expect(result.text).toBe("Hello from test file\n");
    const args = read.parse({ path: "test.txt", limit: 10 });
    expect(read.wireArgs(args, space.context())).toEqual({ path: space.path("test.txt"), limit: 10 });
    expect(read.needs(args, space.context())).toEqual([{ kind: "Read", target: space.path("test.txt") }]);
  });

  test("Read numbers lines in modes that cite them", async () => {
    const space = workspace({ "a.txt": "one\ntwo\nthree" });
    const { outcome, text } = await space.call(read, { path: "a.txt", offset: 2 }, { numbersLines: true });
    expect(text).toBe("2|two\n3|three\n\n[Lines 2-3 of 3.]");
    expect(outcome.value).toMatchObject({ content: "two\nthree" });
  });

  test("Read reports a missing file", async () => {
    const space = workspace();
    const failure = await space.fail(read, { path: "none.txt" });
    expect(failure.kind).toBe("error");
    expect(failure.value).toEqual({
      errorMessage: "File not found",
      message: "File not found",
      path: space.path("none.txt"),
    });
    expect(failure.message).toContain("none.txt");
  });

  test("Read counts a final newline as the start of another line", async () => {
    const space = workspace({ a: "alpha\nbeta\ngamma\n" });
    expect((await space.call(read, { path: "a" })).value.totalLines).toBe(4);
  });

  test("Read reports an empty file as empty", async () => {
    const { value, text } = await workspace({ a: "" }).call(read, { path: "a" });
    expect(value).toMatchObject({ content: "", isEmpty: true, exceededLimit: false, totalLines: 1, fileSize: 0 });
    expect(text).toContain("empty");
  });
});

describe("reading parts of a file", () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`);

  test("Read does not report a limit that the model set as exceeded", async () => {
    const { value } = await workspace({ a: lines.join("\n") }).call(read, { path: "a", limit: 10 });
    expect(value).toMatchObject({ exceededLimit: false, totalLines: 3000, readRange: { startLine: 1, endLine: 10 } });
    expect(value.content).toBe(lines.slice(0, 10).join("\n"));
  });

  test("Read reports its default limit, with how to continue", async () => {
    const { value, text } = await workspace({ a: lines.join("\n") }).call(read, { path: "a" });
    expect(value).toMatchObject({ exceededLimit: true, totalLines: 3000, readRange: { startLine: 1, endLine: 2000 } });
    expect(text).toContain("Lines 1-2000 of 3000. Continue with offset 2001.");
  });

  test("Read with an offset returns the rest of the file", async () => {
    const { value } = await workspace({ a: `${lines.join("\n")}\n` }).call(read, {
      path: "a",
      offset: 2999,
      limit: 10,
    });
    expect(value.content).toBe("line 2999\nline 3000\n");
    expect(value.readRange).toEqual({ startLine: 2999, endLine: 3001 });
  });

  test("repeated Reads, each from where the last ended, give the whole file", async () => {
    const content = Array.from({ length: 500 }, (_, index) => `${index} ${"äß€𝄞".repeat(index % 40)}`).join("\n");
    const space = workspace({ a: content });
    const parts: string[] = [];
    for (let offset = 1; ; ) {
      const { value } = await space.call(read, { path: "a", offset }, { resultLimit: 3000 });
      parts.push(value.content);
      expect(value.content.length).toBeLessThanOrEqual(3000);
      if (value.readRange.endLine === value.totalLines) break;
      offset = value.readRange.endLine + 1;
    }
    expect(parts.join("\n")).toBe(content);
    expect(parts.length).toBeGreaterThan(3);
  });

  test("Read reports an offset past the end", async () => {
    const failure = await workspace({ a: "x\n" }).fail(read, { path: "a", offset: 9 });
    expect(failure.message).toContain("it has 2 lines");
  });
});

describe("reading large files", () => {
  test("Read counts 50 MB of lines without loading them", async () => {
    const space = workspace({ big: "" });
    const block = Buffer.from(`${"x".repeat(99)}\n`.repeat(10_000));
    const file = openSync(space.path("big"), "w");
    for (let index = 0; index < 50; index += 1) writeSync(file, block);
    closeSync(file);
    const before = process.memoryUsage().arrayBuffers;
    const { value } = await space.call(read, { path: "big" });
    expect(value).toMatchObject({ exceededLimit: true, totalLines: 500_001, fileSize: 50_000_000 });
    expect(value.content.length).toBeLessThanOrEqual(30_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000);
  });

  test("Read reads 50 MB in one line in bounded memory", async () => {
    const space = workspace({ big: "" });
    const file = openSync(space.path("big"), "w");
    for (let index = 0; index < 50; index += 1) writeSync(file, Buffer.alloc(1_000_000, "y"));
    closeSync(file);
    const { value, text } = await space.call(read, { path: "big" });
    expect(value).toMatchObject({ exceededLimit: true, totalLines: 1, readRange: { startLine: 1, endLine: 1 } });
    expect(value.content).toBe("y".repeat(30_000));
    expect(text).toContain("too long for one result");
  });
});

describe("reading kinds of files", () => {
  test.each([
    ["NUL", Buffer.from("abc\0def")],
    ["controls and no UTF-8", Buffer.from("abc\x01\x02\xff\xfe\x80", "latin1")],
  ])("Read refuses a binary file: %s", async (_, content) => {
    const failure = await workspace({ a: content }).fail(read, { path: "a" });
    expect(failure.message).toContain("binary file");
    expect(failure.value.error).toBe(failure.value.errorMessage);
  });

  test("Read decodes a Windows-1252 file and reports its encoding", async () => {
    const note = "\n\n[Not UTF-8: read as Windows-1252 (Latin-1), and edits are written back so.]";
    const files = {
      a: Buffer.from("stra\xdfe 5 \x80\n", "latin1"),
      late: Buffer.from(`${"x\n".repeat(9000)}\xe9`, "latin1"),
    };
    const space = workspace(files);
    const { text, value } = await space.call(read, { path: "a" });
    expect([text, value.content]).toEqual([`straße 5 €\n${note}`, "straße 5 €\n"]);
    // Where it is seen only later in the file.
    const late = await space.call(read, { path: "late", offset: 9000 });
    expect(late.text).toBe(`x\né\n\n[Lines 9000-9001 of 9001.]${note}`);
  });

  test("Read returns a PDF as text, page by page", async () => {
    const space = workspace({ "a.pdf": simplePdf(["Hello from a PDF", "Page two"]), "b.pdf": "%PDF-1.7 nonsense" });
    const { text, value } = await space.call(read, { path: "a.pdf" });
    expect(text).toBe("Hello from a PDF\n\nPage two\n\n[The text of a PDF.]");
    expect(value).toMatchObject({ content: "Hello from a PDF\n\nPage two", totalLines: 3 });
    expect((await space.fail(read, { path: "b.pdf" })).message).toContain("b.pdf is a PDF that cannot be read:");
  });

  test("Read returns a Jupyter notebook as cells without images", async () => {
    const cells = [
      { cell_type: "markdown", source: ["# Title\n", "words"] },
      {
        cell_type: "code",
        source: "print(1)\nplot()",
        outputs: [
          { output_type: "stream", text: ["\u001b[31m1\u001b[0m\n"] },
          { output_type: "display_data", data: { "image/png": "A".repeat(50_000), "text/plain": "<Figure>" } },
          { output_type: "error", ename: "ValueError", evalue: "no", traceback: [] },
        ],
      },
    ];
    const space = workspace({ "a.ipynb": JSON.stringify({ cells, nbformat: 4 }), "b.ipynb": "not a notebook" });
    const { text } = await space.call(read, { path: "a.ipynb" });
    expect(text).toBe(
      [
        "[cell 1: markdown]\n# Title\nwords",
        "[cell 2: code]\nprint(1)\nplot()\n[output 2]\n1\n<Figure>\n[image/png]\nValueError: no",
        "[The cells of a notebook. Its file is JSON: Edit and Grep work on that, not on this text.]",
      ].join("\n\n"),
    );
    expect((await space.call(read, { path: "b.ipynb" })).text).toBe("not a notebook");
  });

  test("Read takes a file for text even if the inspected part ends within a character", async () => {
    const { value } = await workspace({ a: `${"x".repeat(8191)}€ end` }).call(read, { path: "a" });
    expect(value.content).toMatch(/x€ end$/);
  });

  test.each([
    ["UTF-8", Buffer.from("\uFEFFhä\n", "utf8")],
    ["UTF-16 LE", Buffer.from("\uFEFFhä\n", "utf16le")],
    ["UTF-16 BE", Buffer.from("\uFEFFhä\n", "utf16le").swap16()],
  ])("Read leaves the byte order mark of %s out of the text", async (_, content) => {
    const { value } = await workspace({ a: content }).call(read, { path: "a" });
    expect(value.content).toBe("hä\n");
    expect(value.totalLines).toBe(2);
    expect(value.fileSize).toBe(content.length);
  });

  test("Read shows an image to the model", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(100)]);
    const { value, images } = await workspace({ "a.png": png }).call(read, { path: "a.png" });
    expect(value.content).toBe("[image/png, 108 bytes]");
    expect(images).toEqual([{ mime: "image/png", base64: png.toString("base64") }]);
  });

  test("Read of a directory suggests the LS tool", async () => {
    const space = workspace({ "src/a": "" });
    expect((await space.fail(read, { path: "src" })).message).toContain("LS");
  });

  test.each(["/dev/zero", "/proc/self/environ", "/dev/stdin"])("Read refuses %s", async (path) => {
    const failure = await workspace().fail(read, { path });
    expect(failure.kind).toBe("error");
    expect(failure.message).not.toMatch(/PATH=/);
  });

  test("Read refuses a named pipe at once, also behind a link", async () => {
    const space = workspace();
    execFileSync("mkfifo", [space.path("pipe")]);
    symlinkSync("pipe", space.path("link"));
    expect((await space.fail(read, { path: "link" })).message).toContain("named pipe");
  });

  test("Read follows a link inside the workspace, but not one that leads elsewhere than approved", async () => {
    const space = workspace({ "real.txt": "here", "other.txt": "there" });
    symlinkSync("real.txt", space.path("link"));
    expect((await space.call(read, { path: "link" })).value.content).toBe("here");
    const approved = new Map([[space.path("link"), space.path("other.txt")]]);
    expect((await space.fail(read, { path: "link" }, { approved })).message).toContain("now points elsewhere");
  });

  test("Read reports a path that uses a file as a directory", async () => {
    const space = workspace({ a: "x" });
    mkdirSync(space.path("d"));
    expect((await space.fail(read, { path: "a/b" })).message).toContain("is a file, not a directory");
  });
});
