import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { neededText, pathTest } from "../../../src/agent/file-pattern.ts";
import { namesIn } from "../../../src/agent/ripgrep.ts";
import { glob } from "../../../src/agent/tools/glob.ts";
import { grep } from "../../../src/agent/tools/grep.ts";
import { ls } from "../../../src/agent/tools/ls.ts";
import { chanceOf } from "../../support/chance.ts";
import { processorMs } from "../../support/processor-time.ts";
import { workspace } from "./workspace.ts";

describe("Grep", () => {
  test("Grep returns matching lines as documented", async () => {
    const space = workspace({ "src/index.ts": "one\nexport default MyComponent;\n", "b.txt": "nothing" });
    const result = await space.call(grep, { pattern: "export default" });
    const match = {
      lineNumber: 2,
      content: "export default MyComponent;",
      contentTruncated: false,
      isContextLine: false,
    };
    expect(result.outcome).toEqual({
      kind: "success",
      value: {
        pattern: "export default",
        path: "",
        outputMode: "content",
        workspaceResults: {
          [space.root]: {
            content: {
              matches: [{ file: "./src/index.ts", matches: [match] }],
              totalLines: 1,
              totalMatchedLines: 1,
              clientTruncated: false,
              ripgrepTruncated: false,
            },
          },
        },
      },
    });
    expect(result.text).toBe("src/index.ts\n2:export default MyComponent;");
  });

  test("the stream shows Grep arguments as documented", () => {
    const space = workspace();
    expect(grep.wireArgs(grep.parse({ pattern: "test" }), space.context())).toEqual({
      pattern: "test",
      path: space.path("."),
      outputMode: "content",
      caseInsensitive: false,
      multiline: false,
      toolCallId: "call_1",
    });
    const args = grep.parse({ pattern: "x", path: "src", glob: "*.ts", outputMode: "count", caseInsensitive: true });
    expect(grep.wireArgs(args, space.context())).toMatchObject({
      path: space.path("src"),
      glob: "*.ts",
      outputMode: "count",
    });
    expect(grep.needs(args, space.context())).toEqual([{ kind: "Read", target: space.path("src") }]);
  });

  test("Grep lists files and counts in path order", async () => {
    const space = workspace({ "test.txt": "test test\ntest\n", "danger.txt": "a test\n", "no.txt": "" });
    const files = await space.call(grep, { pattern: "test", outputMode: "files_with_matches" });
    expect(files.value.workspaceResults[space.root]).toEqual({
      files: { files: ["./danger.txt", "./test.txt"], totalFiles: 2, clientTruncated: false, ripgrepTruncated: false },
    });
    expect(files.text).toBe("danger.txt\ntest.txt");
    const counts = await space.call(grep, { pattern: "test", outputMode: "count" });
    expect(counts.value.workspaceResults[space.root]).toEqual({
      count: {
        counts: [
          { file: "./danger.txt", count: 1 },
          { file: "./test.txt", count: 3 },
        ],
        totalFiles: 2,
        totalMatches: 4,
        clientTruncated: false,
        ripgrepTruncated: false,
      },
    });
  });

  test("Grep supports context, case, multiline and line endings", async () => {
    const space = workspace({ a: "one\nTWO\nthree\nfour\n", b: "x\r\nend\r\n" });
    const { text, value } = await space.call(grep, { pattern: "two", caseInsensitive: true, context: 1 });
    expect(text).toBe("a\n1-one\n2:TWO\n3-three");
    expect(value.workspaceResults[space.root].content).toMatchObject({ totalLines: 3, totalMatchedLines: 1 });
    expect((await space.call(grep, { pattern: "TWO.*four", multiline: true })).text).toBe("a\n2:TWO\n3:three\n4:four");
    expect((await space.call(grep, { pattern: "end$" })).text).toBe("b\n2:end");
    expect((await space.call(grep, { pattern: "TWO\\nthree" })).text).toBe("a\n2:TWO\n3:three");
    expect((await space.call(grep, { pattern: "t(?=hree)" })).text).toBe("a\n3:three");
  });

  test("Grep handles unusual names and lines", async () => {
    const space = workspace({
      "new\nline.txt": "hit\n",
      "12:34.txt": "5:hit-6\n",
      "-e.txt": "hit\n",
      "long.txt": `${"hit ".repeat(1000)}\n`,
      "late.bin": `hit\n${"x\n".repeat(200_000)}\0`,
      "zz.txt": "hit",
    });
    const { value } = await space.call(grep, { pattern: "hit" });
    const { matches } = value.workspaceResults[space.root].content;
    const files = matches.map((match: any) => match.file);
    expect(files.filter((file: string) => file !== "./late.bin")).toEqual([
      "./-e.txt",
      "./12:34.txt",
      "./long.txt",
      "./new\nline.txt",
      "./zz.txt",
    ]);
    const of = (file: string) => matches.find((match: any) => match.file === file).matches[0];
    expect(of("./12:34.txt")).toMatchObject({ lineNumber: 1, content: "5:hit-6" });
    expect(of("./long.txt")).toMatchObject({ content: "hit ".repeat(125), contentTruncated: true });
  });

  test("Grep accepts a file, and reports paths outside and missing ones", async () => {
    const space = workspace({ "src/a.ts": "hit\n" });
    const other = workspace({ "sub/o.txt": "hit\n" });
    expect((await space.call(grep, { pattern: "hit", path: "src/a.ts" })).text).toBe("src/a.ts\n1:hit");
    const outside = await space.call(grep, { pattern: "hit", path: other.root });
    expect(Object.keys(outside.value.workspaceResults)).toEqual([other.root]);
    expect(outside.text).toBe(`${other.path("sub/o.txt")}\n1:hit`);
    const failure = await space.fail(grep, { pattern: "hit", path: "none" });
    expect(failure.value).toMatchObject({
      path: space.path("none"),
      errorMessage: failure.message,
      error: failure.message,
    });
  });

  test("Grep explains an invalid regular expression and says what to do", async () => {
    const space = workspace({ a: "f(x" });
    const failure = await space.fail(grep, { pattern: "f(x", path: "a" });
    const { message } = failure;
    expect(failure.value).toEqual({ path: space.path("a"), errorMessage: message, error: message, message });
    expect(failure.message).not.toContain("~~~");
    expect(failure.message).toContain("unclosed group");
    expect(failure.message).toContain("Escape");
  });

  test("Grep reports no matches, and accepts patterns that look like options", async () => {
    const space = workspace({ a: "--files\n" });
    expect((await space.call(grep, { pattern: "absent" })).text).toBe("No matches.");
    expect((await space.call(grep, { pattern: "--files" })).text).toBe("a\n1:--files");
  });

  test("Grep can be limited to some files", async () => {
    const space = workspace({
      "a.ts": "hit",
      "a.js": "hit",
      "src/b.ts": "hit",
      "src/x/c.tsx": "hit",
      "lib/d.ts": "hit",
    });
    const found = async (pattern: string) =>
      (await space.call(grep, { pattern: "hit", glob: pattern, outputMode: "files_with_matches" })).text.split("\n");
    expect(await found("*.ts")).toEqual(["a.ts", "lib/d.ts", "src/b.ts"]);
    expect(await found("src/**/*.{ts,tsx}")).toEqual(["src/b.ts", "src/x/c.tsx"]);
    expect(await found("{src,lib}/*.ts")).toEqual(["lib/d.ts", "src/b.ts"]);
    expect(await found("!*.ts")).toEqual(["a.js", "src/x/c.tsx"]);
    expect(await found("src/**")).toEqual(["src/b.ts", "src/x/c.tsx"]);
  });

  test("the Grep tool reports when its output was limited", async () => {
    const space = workspace({ a: "hit\n".repeat(3000), b: "hit\n" });
    const { value, text } = await space.call(grep, { pattern: "hit" });
    const { content } = value.workspaceResults[space.root];
    expect(content).toMatchObject({ clientTruncated: true, totalMatchedLines: 3001 });
    expect(content.matches[0].matches).toHaveLength(2000);
    expect(text).toMatch(
      /\n250:hit\n\[250 of 3,001 lines in 2 files\. Narrow pattern, path or glob, or set headLimit\.\]$/,
    );
    const more = await space.call(grep, { pattern: "hit", headLimit: 1000 });
    expect(more.text).toContain("[1,000 of 3,001 lines in 2 files.");
    const few = await space.call(grep, { pattern: "hit", headLimit: 5 });
    expect(few.value.workspaceResults[space.root].content.matches[0].matches).toHaveLength(5);
    const short = await space.call(grep, { pattern: "hit" }, { resultLimit: 100 });
    expect(short.text.length).toBeLessThan(200);
  });

  test("Grep shows fewer lines if they are long, and counts the files", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`f${index}`, `hit ${"x".repeat(400)}\n`]),
    );
    const space = workspace(files);
    const { text } = await space.call(grep, { pattern: "hit" });
    expect(text.length).toBeLessThan(20_200);
    expect(text).toMatch(/\[\d\d of 300 lines in 300 files\. /);
    for (const outputMode of ["files_with_matches", "count"])
      expect((await space.call(grep, { pattern: "hit", outputMode })).text).toContain("[250 of 300 files. Narrow");
  });

  test("Grep shows lines before and after a match", async () => {
    const space = workspace({ a: "1\n2\n3\nhit\n5\n6\n" });
    expect((await space.call(grep, { pattern: "hit", before: 2, "-A": 1 })).text).toBe("a\n2-2\n3-3\n4:hit\n5-5");
  });

  test("Grep ends a search with excessive output", async () => {
    const space = workspace({ a: `${"hit ".repeat(20)}\n`.repeat(150_000) });
    const { value } = await space.call(grep, { pattern: "hit" });
    expect(value.workspaceResults[space.root].content.ripgrepTruncated).toBe(true);
  });

  test("the user can cancel a search", async () => {
    const failure = await workspace({ a: "x" }).fail(grep, { pattern: "x" }, { signal: AbortSignal.abort() });
    expect(failure.message).toContain("cancelled");
  });
});

describe("files that searches see", () => {
  const files = {
    ".gitignore": "*.log\nbuild/\n",
    ".cursorignore": "private/\n.env*\n",
    ".hidden": "hit",
    ".env": "hit",
    "a.log": "hit",
    "build/x": "hit",
    "private/key": "hit",
    "src/a.ts": "hit",
    ".git/config": "hit",
  };

  test.each([
    ["in a repository", true],
    ["without one", false],
  ])("Grep and Glob apply ignore files %s", async (_, isRepository) => {
    const all: Record<string, string> = { ...files };
    if (!isRepository) delete all[".git/config"];
    const space = workspace(all);
    const seen = [".cursorignore", ".gitignore", ".hidden", "src/a.ts"];
    expect((await space.call(glob, { pattern: "**/*" })).value.files).toEqual(seen);
    expect((await space.call(grep, { pattern: "hit", outputMode: "files_with_matches" })).text).toBe(
      ".hidden\nsrc/a.ts",
    );
    // A pattern that names them does not bring them back.
    for (const pattern of [".env*", "*.log", "private/*"]) {
      expect((await space.call(grep, { pattern: "hit", glob: pattern })).text).toBe("No matches.");
      expect((await space.call(glob, { pattern })).text).toBe("No files match.");
    }
    expect((await space.call(grep, { pattern: "hit", path: "src" })).text).toBe("src/a.ts\n1:hit");
  });

  test("search tools do not apply an ignore file above a workspace that has no repository", async () => {
    const space = workspace({ ".gitignore": "*\n", "project/a.ts": "hit" });
    const inside = { workspace: space.path("project") };
    expect((await space.call(glob, { pattern: "*.ts" }, inside)).value.files).toEqual(["a.ts"]);
  });

  test("search tools apply an ignore file of the repository above the workspace", async () => {
    const space = workspace({ ".gitignore": "*.js\n", "project/a.ts": "", "project/a.js": "" });
    execFileSync("git", ["init", "-q"], { cwd: space.root });
    expect((await space.call(glob, { pattern: "a.*" }, { workspace: space.path("project") })).value.files).toEqual([
      "a.ts",
    ]);
  });

  test("search tools leave out unreadable and denied files", async () => {
    const space = workspace({ ".env": "KEY=1", "a.txt": "KEY=2" });
    const mayRead = (path: string) => !path.endsWith(".env");
    expect((await space.call(grep, { pattern: "KEY" }, { mayRead })).text).toBe("a.txt\n1:KEY=2");
    expect((await space.call(grep, { pattern: "KEY", outputMode: "count" }, { mayRead })).text).toBe("a.txt: 1");
    expect((await space.call(glob, { pattern: "*" }, { mayRead })).text).toBe("a.txt");
    symlinkSync("a.txt", space.path("link.env"));
    mkdirSync(space.path("sub/empty.env"), { recursive: true });
    expect((await space.call(ls, {}, { mayRead })).text).toBe(`${space.root}/\n  sub/\n  a.txt`);
    expect((await space.call(ls, { path: "sub" }, { mayRead })).text).toBe(`${space.path("sub")}/\n  (empty)`);
  });

  test("search tools do not follow symbolic links", async () => {
    const other = workspace({ secret: "hit" });
    const space = workspace({ a: "hit" });
    symlinkSync(other.root, space.path("out"));
    expect((await space.call(grep, { pattern: "hit", outputMode: "files_with_matches" })).text).toBe("a");
  });
});

describe("Glob", () => {
  test("Glob checks permissions only for files that match", async () => {
    const space = workspace({ "src/a.ts": "", "src/b.md": "", "c.ts": "", "d.json": "" });
    const judged: string[] = [];
    const mayRead = (path: string) => judged.push(path) > 0 && !path.endsWith("/c.ts");
    const { value } = await space.call(glob, { pattern: "**/*.ts" }, { mayRead });
    expect(value).toMatchObject({ files: ["src/a.ts"], totalFiles: 1 });
    expect(judged.sort()).toEqual([space.path("c.ts"), space.path("src/a.ts")]);
  });

  test("the stream shows Glob as documented", async () => {
    const space = workspace({ "thor-core/src/index.ts": "", "thor-widget/package.json": "", "z.md": "" });
    const result = await space.call(glob, { pattern: "thor*/**" });
    expect(result.outcome).toEqual({
      kind: "success",
      value: {
        pattern: "thor*/**",
        path: space.root,
        files: ["thor-core/src/index.ts", "thor-widget/package.json"],
        totalFiles: 2,
        clientTruncated: false,
        ripgrepTruncated: false,
      },
    });
    const args = glob.parse({ pattern: "*.ts" });
    const inRoot = { targetDirectory: space.root, globPattern: "*.ts" };
    expect(glob.wireArgs(args, space.context())).toEqual({ globPattern: "*.ts" });
    expect(glob.wireArgs(args, { ...space.context(), compat: "2025" })).toEqual(inRoot);
    expect(glob.wireArgs(glob.parse({ pattern: "*.ts", path: "." }), space.context())).toEqual(inRoot);
  });

  test("Glob below a path is relative to it in the stream, and to the workspace for the model", async () => {
    const space = workspace({ "src/x/a.ts": "", "src/b.ts": "", "c.ts": "" });
    const { value, text } = await space.call(glob, { pattern: "*.ts", path: "src" });
    expect(value).toMatchObject({ path: space.path("src"), files: ["b.ts", "x/a.ts"] });
    expect(text).toBe("src/b.ts\nsrc/x/a.ts");
    expect((await space.call(glob, { pattern: `${space.root}/src/*.ts` })).value.files).toEqual(["src/b.ts"]);
  });

  test("Glob never leaves the folder", async () => {
    const space = workspace({ a: "" });
    expect(() => glob.parse({ pattern: "../**/*" })).toThrow(/climb/);
    expect((await space.fail(glob, { pattern: "/etc/*" })).message).toContain("outside");
    expect((await space.fail(glob, { pattern: "*", path: "a" })).message).toContain("is a file");
  });

  test("the Glob tool counts matches beyond its limit", async () => {
    const space = workspace(Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`d/${index}.txt`, ""])));
    const { value, text } = await space.call(glob, { pattern: "*.txt" });
    expect(value).toMatchObject({ totalFiles: 1100, clientTruncated: true });
    expect(value.files).toHaveLength(1000);
    expect(text.split("\n")).toHaveLength(201);
    expect(text).toMatch(/\n\[200 of 1,100 files\. Narrow pattern or path\.\]$/);
  });

  test("Glob lists the newest files first", async () => {
    const space = workspace({ "a.txt": "", "b.txt": "", "c.txt": "" });
    for (const [index, name] of ["b.txt", "c.txt", "a.txt"].entries())
      utimesSync(join(space.root, name), 1000, 2000 - index);
    const { text, value } = await space.call(glob, { pattern: "*.txt" });
    expect(text).toBe("b.txt\nc.txt\na.txt");
    expect(value.files).toEqual(["a.txt", "b.txt", "c.txt"]);
  });
});

describe("file patterns", () => {
  test.each([
    ["*.ts", "src/a.ts", true],
    ["*.ts", "a.tsx", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "packages/p/src/a.ts", true],
    ["./src/*.ts", "packages/p/src/a.ts", false],
    ["src/*.ts", "src/x/a.ts", false],
    ["**/a", "a", true],
    ["src/**/a", "src/a", true],
    ["src/**/a", "src/x/y/a", true],
    ["src/**", "src/x/y", true],
    ["[a-c]?.{md,txt}", "b1.txt", true],
    ["[!a-c]*", "b1.txt", false],
    ["{a,{b,c}d}", "cd", true],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["(x|y)+$", "(x|y)+$", true],
    ["ä?", "ä𝄞", true],
    ["*a*b*", "xxaxxbxx", true],
    ["[!]a]x", "bx", true],
    ["[!]a]x", "]x", false],
    ["{./a,b}/c", "x/b/c", true],
    ["{./a,b}/c", "x/a/c", false],
  ])("the file pattern %s matches %s: %s", (pattern, path, expected) => {
    expect(pathTest(pattern)!(path)).toBe(expected);
  });

  test("matching a glob pattern never takes long", () => {
    const test = pathTest(`${"**/*a".repeat(1)}${"*a".repeat(60)}b`)!;
    expect(processorMs(() => expect(test("a".repeat(5000))).toBe(false))).toBeLessThan(500);
    expect(pathTest("{a,b}".repeat(20))).toBeUndefined();
  });

  test("the text by which Glob finds candidates is in every path that matches", () => {
    const chance = chanceOf("needed text");
    const word = (letters: string, most: number) =>
      Array.from({ length: Math.floor(chance() * most) }, () => letters[Math.floor(chance() * letters.length)]).join(
        "",
      );
    for (let round = 0; round < 3000; round++) {
      const pattern = word("ab.*?/{,}[]\\", 7) || "a";
      const path = word("ab./", 8) || "a";
      const text = neededText(pattern);
      if (pathTest(pattern)?.(path)) expect(path, pattern).toContain(text);
      expect(namesIn(`${path}\0b/${path}\0`, () => true, text)).toEqual(
        [path, `b/${path}`].filter((each) => each.includes(text)).map((each) => each.replace(/^\.\//, "")),
      );
    }
  });
});

describe("LS", () => {
  test("LS shows a tree with real counts", async () => {
    const space = workspace({
      "src/index.ts": "",
      "src/deep/a.ts": "",
      "package.json": "",
      ".gitignore": "dist\n",
      "dist/x.js": "",
      LICENSE: "",
    });
    mkdirSync(space.path("empty/inner"), { recursive: true });
    symlinkSync("package.json", space.path("link.json"));
    const result = await space.call(ls, {});
    const folder = (name: string, more: object) => ({
      absPath: space.path(name),
      childrenDirs: [],
      childrenFiles: [],
      childrenWereProcessed: true,
      fullSubtreeExtensionCounts: {},
      numFiles: 0,
      ...more,
    });
    expect(result.value.directoryTreeRoot).toEqual({
      absPath: space.root,
      childrenDirs: [
        folder("empty", { childrenDirs: [folder("empty/inner", {})] }),
        folder("src", {
          childrenDirs: [
            folder("src/deep", {
              childrenFiles: [{ name: "a.ts" }],
              fullSubtreeExtensionCounts: { ".ts": 1 },
              numFiles: 1,
            }),
          ],
          childrenFiles: [{ name: "index.ts" }],
          fullSubtreeExtensionCounts: { ".ts": 2 },
          numFiles: 2,
        }),
      ],
      childrenFiles: [{ name: ".gitignore" }, { name: "LICENSE" }, { name: "link.json" }, { name: "package.json" }],
      childrenWereProcessed: true,
      fullSubtreeExtensionCounts: { ".json": 2, ".ts": 2 },
      numFiles: 6,
    });
    expect(result.text).toBe(
      `${space.root}/\n  empty/\n    inner/\n  src/\n    deep/\n      a.ts\n    index.ts\n  .gitignore\n  LICENSE\n  link.json\n  package.json`,
    );
    const args = ls.parse({});
    expect(ls.wireArgs(args, space.context())).toEqual({ path: space.root, ignore: [], toolCallId: "call_1" });
  });

  test("LS accepts ignore patterns, a subdirectory and a file", async () => {
    const space = workspace({ "a/x.ts": "", "a/x.log": "", "b/y.ts": "", "a/gen/z.ts": "" });
    expect((await space.call(ls, { ignore: ["*.log", "b", "gen/**"] })).text).toBe(`${space.root}/\n  a/\n    x.ts`);
    const { value, text } = await space.call(ls, { path: "a" });
    expect(value.directoryTreeRoot).toMatchObject({ absPath: space.path("a"), numFiles: 3 });
    expect(text).toContain("x.log");
    expect((await space.fail(ls, { path: "a/x.ts" })).message).toContain("Use Read");
    expect((await space.fail(ls, { path: "none" })).value.error).toContain("none");
  });

  test("the LS tool counts the entries that it leaves out", async () => {
    const names = [
      ...Array.from({ length: 300 }, (_, index) => `one/${index}.ts`),
      ...Array.from({ length: 400 }, (_, index) => `two/${index}.js`),
      "three/sub/a.md",
    ];
    const space = workspace(Object.fromEntries(names.map((name) => [name, ""])));
    const { value, text } = await space.call(ls, {});
    const [one, three, two] = value.directoryTreeRoot.childrenDirs;
    expect(value.directoryTreeRoot).toMatchObject({
      numFiles: 701,
      fullSubtreeExtensionCounts: { ".js": 400, ".ts": 300, ".md": 1 },
    });
    expect(one).toMatchObject({ childrenWereProcessed: true, numFiles: 300 });
    expect(two).toMatchObject({ childrenWereProcessed: false, numFiles: 400 });
    expect(three.childrenDirs[0]).toMatchObject({ childrenWereProcessed: false, numFiles: 1 });
    expect(text).toContain("sub/ (1 files: 1 .md)");
    expect(text).toMatch(/… \d+ more/);
  });
});
