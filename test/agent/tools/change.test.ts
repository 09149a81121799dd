import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { unifiedDiff } from "../../../src/agent/diff.ts";
import { deleteTool } from "../../../src/agent/tools/delete.ts";
import { edit } from "../../../src/agent/tools/edit.ts";
import { write } from "../../../src/agent/tools/write.ts";
import { processorClock } from "../../support/processor-time.ts";
import { notLinux, orSkipped } from "../../support/skipping.ts";
import { workspace } from "./workspace.ts";

// The writer may make a folder of its own where the swapped one is missing: it is cleared away.
const swapScript = `
  const { renameSync, rmSync, symlinkSync, unlinkSync } = require("node:fs");
  const clear = () => rmSync("in", { recursive: true, force: true });
  const attempt = (work) => { try { work(); } catch { try { clear(); } catch {} } };
  console.log("ready");
  while (true) {
    attempt(() => renameSync("in", "aside"));
    attempt(() => symlinkSync("outside", "in"));
    attempt(() => unlinkSync("in"));
    attempt(() => renameSync("aside", "in"));
  }`;

const one = (oldText: string, newText: string, more = {}) => ({ edits: [{ oldText, newText, ...more }] });

describe("Write and Edit in the stream", () => {
  test("the stream shows the Write tool's new file as documented", async () => {
    const space = workspace();
    const path = space.path("deep/er/test.txt");
    const result = await space.call(write, { path: "deep/er/test.txt", content: "hello world\n" });
    expect(result.outcome).toEqual({
      kind: "success",
      value: {
        path,
        linesAdded: 1,
        linesRemoved: 0,
        diffString: "--- /dev/null\n+++ b/deep/er/test.txt\n@@ -0,0 +1,1 @@\n+hello world\n",
        afterFullFileContent: "hello world\n",
        message: `Wrote contents to ${path}`,
        resultForModel: `Wrote contents to ${path}`,
      },
    });
    expect(space.text("deep/er/test.txt")).toBe("hello world\n");
    const args = write.parse({ path: "deep/er/test.txt", content: "x" });
    expect(write.wireArgs(args, space.context())).toEqual({ path, streamContent: "x" });
  });

  test("the stream shows an edit as documented", async () => {
    const space = workspace({ "test.txt": "hello world\n" });
    const path = space.path("test.txt");
    const { value } = await space.call(edit, { path: "test.txt", ...one("hello", "hi") });
    expect(value).toEqual({
      path,
      linesAdded: 1,
      linesRemoved: 1,
      diffString: "--- a/test.txt\n+++ b/test.txt\n@@ -1,1 +1,1 @@\n-hello world\n+hi world\n",
      beforeFullFileContent: "hello world\n",
      afterFullFileContent: "hi world\n",
      message: `The file ${path} has been updated.`,
      resultForModel: `The file ${path} has been updated.`,
    });
    const single = edit.parse({ path: "test.txt", ...one("a", "b") });
    expect(edit.wireArgs(single, space.context())).toEqual({
      path,
      streamContent: "b",
      strReplace: { oldText: "a", newText: "b", replaceAll: false },
    });
    const edits = [...one("a", "b").edits, { oldText: "c", newText: "d", replaceAll: true }];
    expect(edit.wireArgs(edit.parse({ path: "test.txt", edits }), space.context())).toMatchObject({
      streamContent: "b\nd",
      multiStrReplace: { edits: [{ replaceAll: false }, { replaceAll: true }] },
    });
  });

  test("the edit tools accept argument names of other agents", async () => {
    const space = workspace({ a: "one two" });
    await space.call(edit, { file_path: "a", old_string: "one", new_string: "1", replace_all: null });
    await space.call(edit, { path: "a", edits: [{ old_str: "two", new_str: "2" }] });
    expect(space.text("a")).toBe("1 2");
  });
});

describe("finding the text of an edit", () => {
  test("an edit whose old text is not found shows the nearest text and changes nothing", async () => {
    const space = workspace({ "a.ts": "function a() {\n\treturn compute(first, second);\n}\n" });
    const indentation = await space.fail(edit, { path: "a.ts", ...one("  return compute(first, second);", "x") });
    expect(indentation.message).toContain("differs only in indentation is at line 2:\n\treturn compute");
    const similar = await space.fail(edit, { path: "a.ts", ...one("return compute(first, third);", "x") });
    expect(similar.message).toContain("most similar text is at line 2");
    const unlike = await space.fail(edit, { path: "a.ts", ...one("0123456789", "x") });
    expect(unlike.message).toContain("nor anything like it");
    expect(unlike.value).toMatchObject({
      path: space.path("a.ts"),
      errorMessage: unlike.message,
      error: unlike.message,
    });
    expect(space.text("a.ts")).toContain("second");
  });

  test("an edit whose old text is found more than once lists the places and says what to do", async () => {
    const space = workspace({ a: "x\ny\nx\n" });
    const failure = await space.fail(edit, { path: "a", ...one("x", "z") });
    expect(failure.message).toContain("occurs 2 times (lines 1, 3)");
    expect(failure.message).toContain("replaceAll");
    await space.call(edit, { path: "a", ...one("x", "z", { replaceAll: true }) });
    expect(space.text("a")).toBe("z\ny\nz\n");
  });

  test("several edits in one call apply in order, all or none", async () => {
    const space = workspace({ a: "one\n" });
    const failure = await space.fail(edit, {
      path: "a",
      edits: [
        { oldText: "one", newText: "two" },
        { oldText: "missing", newText: "" },
      ],
    });
    expect(failure.message).toContain("Edit 2 of 2");
    expect(space.text("a")).toBe("one\n");
    await space.call(edit, {
      path: "a",
      edits: [
        { oldText: "one", newText: "two" },
        { oldText: "two", newText: "three" },
      ],
    });
    expect(space.text("a")).toBe("three\n");
  });

  test("an edit keeps special characters of the new text", async () => {
    const space = workspace({ a: "price\n" });
    await space.call(edit, { path: "a", ...one("price", "$& $1 $$ \\n") });
    expect(space.text("a")).toBe("$& $1 $$ \\n\n");
  });

  test.each([
    ["empty", "", "x", "oldText is empty"],
    ["the same", "a", "a", "are the same"],
    ["already made", "gone", "abc", "may already be made"],
  ])("an edit that cannot be applied is refused: %s", async (_, oldText, newText, words) => {
    const failure = await workspace({ f: "abc" }).fail(edit, { path: "f", ...one(oldText, newText) });
    expect(failure.message).toContain(words);
  });

  test("an edit ignores trailing blanks if only one place fits", async () => {
    const space = workspace({ a: "if (x) {  \n  go();\n}\n", b: "q \nr\nq \nr\n" });
    const { text } = await space.call(edit, { path: "a", ...one("if (x) {\n  go();", "if (y) {\n  go();") });
    expect(space.text("a")).toBe("if (y) {\n  go();\n}\n");
    expect(text).toContain("trailing spaces");
    await space.fail(edit, { path: "b", ...one("q\nr", "s") });
    expect(space.text("b")).toBe("q \nr\nq \nr\n");
  });

  test("an edit searches a file full of blanks only once", async () => {
    const space = workspace({ blank: `x${" ".repeat(400_000)}` });
    const started = performance.now();
    const { message } = await space.fail(edit, { path: "blank", ...one("\nneedle\nhay", "") });
    expect(message).toContain("not found");
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test.each([
    [
      "too little",
      "  a:\n    b()\n\n    c()\n",
      "a:\n  b()\n\n  c()\n",
      "a:\n  d()\n",
      "  a:\n    d()\n",
      "indentation",
    ],
    [
      "too much",
      "a:\n  b()\n",
      "    a:\n      b()",
      "    a:\n      if c:\n        d()",
      "a:\n  if c:\n    d()\n",
      "indentation",
    ],
    ["tabs", "\tif x {\n\t\ty()\n\t}\n", "if x {\n\ty()\n}", "z()", "\tz()\n", "indentation"],
    ["quotes in the file", "say “hi” now\n", 'say "hi" now', "say it now", "say it now\n", "quotation marks"],
    ["quotes of the model", "say('it');\n", "say(‘it’);", "say(‘that’);", "say('that');\n", "quotation marks"],
  ])(
    "an edit whose text differs in a small way from one place is applied there and reported: %s",
    async (_what, before, oldText, newText, after, said) => {
      const space = workspace({ a: before, twice: before + before });
      const { text } = await space.call(edit, { path: "a", ...one(oldText, newText) });
      expect(space.text("a")).toBe(after);
      expect(text).toContain(`differed from the file only in its ${said}`);
      await space.fail(edit, { path: "twice", ...one(oldText, newText) });
      expect(space.text("twice")).toBe(before + before);
    },
  );

  test.each([
    ["each line by other blanks", "  a\n      b\n", "a\n  b", "x"],
    ["new text that cannot be moved", "a\n  b\n", "  a\n    b", "x"],
  ])(
    "an edit whose text differs in any other way is refused with the nearest text: %s",
    async (_what, before, oldText, newText) => {
      const space = workspace({ a: before });
      expect((await space.fail(edit, { path: "a", ...one(oldText, newText) })).message).toContain(
        "only in indentation",
      );
      expect(space.text("a")).toBe(before);
    },
  );

  test("edits given as a JSON string in other agents' names are accepted", async () => {
    const space = workspace({ a: "one\n" });
    await space.call(edit, { path: "a", edits: '[{"old_string": "one", "new_string": "two"}]' });
    expect(space.text("a")).toBe("two\n");
  });

  test("the edit tool's error points to Write for a missing file, and to Shell for a binary one", async () => {
    const space = workspace({ bin: Buffer.from([0xff, 0x00, 0x31]) });
    expect((await space.fail(edit, { path: "none", ...one("a", "b") })).message).toContain("Write");
    expect((await space.fail(edit, { path: "bin", ...one("1", "2") })).message).toContain("Shell");
    expect(existsSync(space.path("none"))).toBe(false);
  });

  test("the edit tool applies all parallel edits of one file", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    const space = workspace({ a: names.join("\n") });
    await Promise.all(names.map((name) => space.call(edit, { path: "a", ...one(name, name.toUpperCase() + "!") })));
    expect(space.text("a")).toBe(names.map((name) => `${name}!`).join("\n"));
  });
});

describe("what an edit preserves", () => {
  test("editing or writing a CRLF file with LF text keeps CRLF", async () => {
    const space = workspace({ a: "one\r\ntwo\r\nthree\r\n" });
    await space.call(edit, { path: "a", ...one("one\ntwo", "1\n2\n2.5") });
    expect(space.text("a")).toBe("1\r\n2\r\n2.5\r\nthree\r\n");
    await space.call(write, { path: "a", content: "x\ny\n" });
    expect(space.text("a")).toBe("x\r\ny\r\n");
  });

  test("an edit keeps mixed line endings in place", async () => {
    const space = workspace({ a: "one\r\ntwo\nthree\r\nfour" });
    await space.call(edit, { path: "a", ...one("three\nfour", "3\n4") });
    expect(space.text("a")).toBe("one\r\ntwo\n3\r\n4");
  });

  test("an edit keeps byte order mark and encoding", async () => {
    const space = workspace({ a: "\uFEFFone\n", b: Buffer.from("\uFEFFzwölf\n", "utf16le") });
    const { value } = await space.call(edit, { path: "a", ...one("one", "two") });
    expect(value.beforeFullFileContent).toBe("one\n");
    expect(space.text("a")).toBe("\uFEFFtwo\n");
    await space.call(edit, { path: "b", ...one("zwölf", "dreizehn") });
    expect(readFileSync(space.path("b")).toString("utf16le")).toBe("\uFEFFdreizehn\n");
    await space.call(write, { path: "a", content: "new\n" });
    expect(space.text("a")).toBe("\uFEFFnew\n");
  });

  test("an edit keeps the file's mode bits, and leaves no temporary file", async () => {
    const space = workspace({ "run.sh": "echo 1\n" });
    chmodSync(space.path("run.sh"), 0o751);
    await space.call(edit, { path: "run.sh", ...one("1", "2") });
    expect(statSync(space.path("run.sh")).mode & 0o7777).toBe(0o751);
    expect(readdirSync(space.root)).toEqual(["run.sh"]);
  });

  test("Write through a symbolic link keeps the link and writes its target, even a missing one", async () => {
    const space = workspace({ "target.txt": "a\n" });
    symlinkSync("target.txt", space.path("link"));
    symlinkSync("sub/new.txt", space.path("dangling"));
    await space.call(write, { path: "link", content: "b\n" });
    await space.call(write, { path: "dangling", content: "c\n" });
    expect(readlinkSync(space.path("link"))).toBe("target.txt");
    expect(space.text("target.txt")).toBe("b\n");
    expect(readlinkSync(space.path("dangling"))).toBe("sub/new.txt");
    expect(space.text("sub/new.txt")).toBe("c\n");
  });

  test("an edit of a hard-linked file leaves its other name unchanged", async () => {
    const space = workspace({ protected: "{}\n" });
    linkSync(space.path("protected"), space.path("hl"));
    await space.call(write, { path: "hl", content: "x\n" });
    expect(space.text("protected")).toBe("{}\n");
  });
});

describe("writes that are refused", () => {
  test("Write refuses a directory, a path below a file, a link loop and a named pipe", async () => {
    const space = workspace({ "d/a": "", f: "" });
    symlinkSync("loop", space.path("loop"));
    execFileSync("mkfifo", [space.path("pipe")]);
    const words = async (path: string) => (await space.fail(write, { path, content: "x" })).message;
    expect(await words("d")).toContain("is a directory");
    expect(await words("f/x")).toContain("is a file, not a directory");
    expect(await words("loop/x")).toContain("loop");
    expect(await words("pipe")).toContain("named pipe");
    expect(await words("/proc/self/comm")).toContain("kernel");
  });

  test("Write writes nothing if a folder became a link after the permission check", async () => {
    const space = workspace({ "swap/keep": "", "outside/keep": "" });
    const path = space.path("swap/x.txt");
    const approved = new Map([[path, path]]);
    renameSync(space.path("swap"), space.path("old"));
    symlinkSync("outside", space.path("swap"));
    const failure = await space.fail(write, { path: "swap/x.txt", content: "x" }, { approved });
    expect(failure.message).toContain("now points elsewhere");
    expect(readdirSync(space.path("outside"))).toEqual(["keep"]);
  });

  test.skipIf(notLinux)(
    orSkipped("a folder swapped for a link again and again never makes Write write outside", notLinux),
    async () => {
      const space = workspace({ "outside/keep": "", "in/keep": "" });
      const swapper = spawn(process.execPath, ["-e", swapScript], {
        cwd: space.root,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const gone = once(swapper, "exit");
      await once(swapper.stdout, "data");
      let written = 0;
      let refused = 0;
      for (const until = performance.now() + 1500; performance.now() < until; ) {
        // The folders on the way are made anew each time, so that this is raced too.
        const path = space.path(`in/${written}/${refused}/x.txt`);
        const approved = new Map([[path, path]]);
        await space.call(write, { path, content: "x" }, { approved }).then(
          () => (written += 1),
          () => (refused += 1),
        );
      }
      swapper.kill("SIGKILL");
      await gone;
      expect(readdirSync(space.path("outside"))).toEqual(["keep"]);
      expect(written + refused).toBeGreaterThan(20);
    },
  );

  test("Write and Edit refuse invalid paths", () => {
    expect(() => write.parse({ path: "a\0b", content: "" })).toThrow(/NUL/);
    expect(() => write.parse({ path: "file:///etc/passwd", content: "" })).toThrow(/URL/);
    expect(() => write.parse({ path: "", content: "" })).toThrow(/empty/);
    const place = workspace().context();
    // The variable counts, as it does for rules.
    const home = process.env["HOME"];
    onTestFinished(() => {
      process.env["HOME"] = home;
    });
    process.env["HOME"] = "/nowhere/home";
    expect(write.needs(write.parse({ path: "~/.profile", content: "" }), place)[0]!.target).toBe(
      "/nowhere/home/.profile",
    );
    expect(write.needs(write.parse({ path: "..%2fa", content: "" }), place)[0]!.target).toBe(
      `${place.workspace}/..%2fa`,
    );
  });
});

describe("Delete", () => {
  test("Delete removes a file, and a link but not its target", async () => {
    const space = workspace({ a: "x", b: "y" });
    symlinkSync("b", space.path("link"));
    const { value } = await space.call(deleteTool, { path: "a" });
    expect(value).toEqual({ path: space.path("a"), message: `Deleted ${space.path("a")}` });
    await space.call(deleteTool, { path: "link" });
    expect(readdirSync(space.root)).toEqual(["b"]);
    const args = deleteTool.parse({ path: "b" });
    expect(deleteTool.wireArgs(args, space.context())).toEqual({ path: space.path("b"), toolCallId: "call_1" });
    expect(deleteTool.needs(args, space.context())).toEqual([{ kind: "Delete", target: space.path("b"), reads: true }]);
  });

  test("Delete refuses a missing file and a directory", async () => {
    const space = workspace({ "d/a": "" });
    expect((await space.fail(deleteTool, { path: "none" })).value).toEqual({
      path: space.path("none"),
      error: `File not found: ${space.path("none")}`,
    });
    expect((await space.fail(deleteTool, { path: "d" })).message).toContain("directory");
    expect(existsSync(space.path("d/a"))).toBe(true);
  });
});

describe("diffs of changes", () => {
  const patched = (before: string, diff: string) => {
    const space = workspace({ f: before, "p.diff": diff });
    execFileSync("patch", ["-p1", "-s", "-i", "p.diff"], { cwd: space.root });
    return space.text("f");
  };
  const noPatch = spawnSync("patch", ["--version"]).status !== 0 && "no patch here";

  test.skipIf(noPatch)(orSkipped("patch takes it, whatever the change", noPatch), async () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    for (let round = 0; round < 40; round += 1) {
      const lines = Array.from({ length: 1 + random(30) }, () => `line ${random(9)}`);
      const before = lines.join("\n") + (random(2) ? "\n" : "");
      for (let change = 0; change <= random(4); change += 1) {
        lines.splice(random(lines.length + 1), random(3), ...(random(2) ? [`new ${random(99)}`, "more"] : []));
      }
      const after = `added\n${lines.join("\n")}${random(2) ? "\n" : ""}`;
      const { text, added, removed } = await unifiedDiff({ path: "f", before, after });
      expect(patched(before, text)).toBe(after);
      expect(added - removed).toBe(count(after) - count(before));
    }
  });

  test("an edit that replaces 5,000 unrelated lines is diffed quickly, as one block", async () => {
    const before = Array.from({ length: 5000 }, (_, index) => `a${index}`).join("\n");
    const after = Array.from({ length: 5000 }, (_, index) => `b${index}`).join("\n");
    const spent = processorClock();
    const { added, removed, text } = await unifiedDiff({ path: "f", before, after });
    expect(spent()).toBeLessThan(1500);
    expect([added, removed]).toEqual([5000, 5000]);
    expect(text.match(/^@@/gm)).toHaveLength(1);
  });
});

function count(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

describe("text in Windows-1252", () => {
  const old = Buffer.from("caf\xe9 \x80 \x81\nend\n", "latin1");

  test("Write and Edit keep the encoding of Windows-1252 text", async () => {
    const space = workspace({ a: old, b: old });
    await space.call(edit, { path: "a", edits: [{ oldText: "café", newText: "naïve “x”" }] });
    expect(readFileSync(space.path("a")).toString("latin1")).toBe("na\xefve \x93x\x94 \x80 \x81\nend\n");
    await space.call(write, { path: "b", content: "ü\n" });
    expect(readFileSync(space.path("b")).toString("latin1")).toBe("\xfc\n");
  });

  test("an edit with a character that Windows-1252 lacks is refused for such a file, which stays unchanged", async () => {
    const space = workspace({ a: old });
    const failure = await space.fail(edit, { path: "a", edits: [{ oldText: "end", newText: "→" }] });
    expect(failure.message).toContain('is Windows-1252 text, which has no "→". Use characters that it has');
    expect(readFileSync(space.path("a"))).toEqual(old);
  });
});
