// Code search: terms, chunks, the index on disk, and whether questions find their files.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cutIntoChunks, withoutImports } from "../../../src/agent/code-search/chunks.ts";
import { searchFolders } from "../../../src/agent/code-search/folders.ts";
import { conceptsOf } from "../../../src/agent/code-search/question.ts";
import { createScanner } from "../../../src/agent/code-search/scanner.ts";
import { createSearch } from "../../../src/agent/code-search/search.ts";
import { stem } from "../../../src/agent/code-search/stem.ts";
import { termsOfWord } from "../../../src/agent/code-search/words.ts";
import { CodeIndex, codeIndexFile } from "../../../src/store/code-index/code-index.ts";
import { evaluate, namesIn, questions, share } from "./evaluate.ts";

const signal = new AbortController().signal;

function folderOf(files: Record<string, string>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-search-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("code search questions over real packages", () => {
  it("the benchmark questions contain no name from the file they look for", () => {
    const telling = questions.filter((each) => {
      const names = namesIn(each);
      return (each.question.toLowerCase().match(/[a-z0-9_$-]+/g) ?? []).some((word) => names.has(word));
    });
    expect(telling.map((each) => each.question)).toEqual([]);
    expect(questions.length).toBeGreaterThanOrEqual(60);
    expect(questions.filter((each) => each.set !== "made with").length).toBeGreaterThanOrEqual(questions.length / 3);
  });

  it("code search finds the right file among the first five in four of five cases, far above plain FTS5", async () => {
    const found = await evaluate();
    const held = found.filter((each) => each.set !== "made with");
    expect(share(found, "ours")).toBeGreaterThanOrEqual(0.8);
    expect(share(found, "ours") - share(found, "plain")).toBeGreaterThanOrEqual(0.1);
    expect(share(held, "ours") - share(held, "plain")).toBeGreaterThanOrEqual(0.1);
  }, 60_000);
});

describe("search terms", () => {
  it("code search indexes whole names and their parts, in any spelling", () => {
    expect(termsOfWord("parseHTTPHeaders")).toEqual(["pars", "http", "header", "parsehttpheaders"]);
    expect(termsOfWord("parse_http_headers")).toEqual(["pars", "http", "header", "parsehttpheaders"]);
    expect(termsOfWord("const")).toEqual([]);
    expect(termsOfWord("größe")).toEqual(["große".normalize("NFKD").replace(/\p{M}/gu, "")]);
    expect(termsOfWord("如何使用")).toEqual(["如何", "何使", "使用"]);
  });

  it("code search removes English endings from terms", () => {
    const groups = [
      "retry retries retried retrying",
      "cache caches cached caching",
      "connect connects connected connection",
    ];
    for (const group of groups) expect(new Set(group.split(" ").map(stem)).size, group).toBe(1);
    expect(["parse", "is", "as", "ring", "string", "class"].map(stem)).toEqual([
      "pars",
      "is",
      "as",
      "ring",
      "string",
      "class",
    ]);
  });

  it("code search weights terms by where they appear", () => {
    const code = `// Waits before the retry.\nexport class RetryPolicy {\n  async waitLong(ms) {\n    return sleep(ms * factor); /* backoff\n grows */ other();\n  }\n}\n`;
    const counted = new Map(
      createScanner()
        .scan(Buffer.from(code), "a.ts")
        .map((term) => [term.text, { ...term }]),
    );
    expect(counted.get("retri")).toMatchObject({ comments: 1, symbols: 1, body: 0 });
    expect(counted.get("retrypolicy")).toMatchObject({ symbols: 1 });
    expect(counted.get("waitlong")).toMatchObject({ symbols: 1, body: 0 });
    expect(counted.get("backoff")).toMatchObject({ comments: 1, body: 0 });
    expect(counted.get("grow")).toMatchObject({ comments: 1 });
    expect(counted.get("other")).toBeUndefined(); // says nothing
    expect(counted.get("sleep")).toMatchObject({ body: 1, symbols: 0 });
    const script = new Map(
      createScanner()
        .scan(Buffer.from("# reads rows\ndef load_rows(x):\n  pass\n"), "a.py")
        .map((term) => [term.text, { ...term }]),
    );
    expect([script.get("loadrows")?.symbols, script.get("row")?.comments]).toEqual([1, 1]);
  });

  it("code search expands a question by related terms", () => {
    const terms = conceptsOf("Where do we connect again when the lookup of the user agent times out?").map((each) => [
      ...each.terms.keys(),
    ]);
    expect(terms.flat()).toEqual(expect.arrayContaining(["reconnect", "useragent", "socket"]));
    expect(conceptsOf("the of and")).toEqual([]);
    expect(conceptsOf("如何在项目中使用组件").length).toBeGreaterThan(0);
  });
});

describe("search chunks", () => {
  it("code search splits files into chunks that begin at definitions with their comments and omit nothing", () => {
    const block = (name: string) =>
      `/**\n * About ${name}.\n */\nfunction ${name}() {\n${"  work();\n".repeat(12)}}\n\n`;
    const text = `import x from "x";\n\n${block("one")}${block("two")}${block("three")}`;
    const chunks = cutIntoChunks(Buffer.from(text), "a.js");
    const lines = text.split("\n");
    expect(chunks.map((chunk) => lines[chunk.startLine - 1])).toEqual(['import x from "x";', "/**", "/**"]);
    expect(chunks.map((chunk) => text.slice(chunk.from, chunk.to)).join("")).toBe(text);
    expect(cutIntoChunks(Buffer.from(""), "a.js")).toEqual([]);
    const long = cutIntoChunks(Buffer.from("x();\n".repeat(1000)), "a.js");
    expect(Math.max(...long.map((chunk) => chunk.endLine - chunk.startLine + 1))).toBeLessThanOrEqual(70);
    const prose = cutIntoChunks(Buffer.from(`# A\n${"text\n".repeat(10)}## B\n${"text\n".repeat(10)}`), "a.md");
    expect(prose.map((chunk) => chunk.startLine)).toEqual([1, 12]);
  });

  it.each([
    ["JavaScript", 'import a from "a";\nimport {\n  b,\n  c,\n} from "b";\nconst d = require("d");\n', "work(a);\n"],
    ["Python", "# Work.\nimport os\nfrom os import (\n  path,\n)\n\n", "def work():\n  pass\n"],
    ["C", '#include <stdio.h>\n#include "a.h"\n', "int main() {}\n"],
    ["Rust", "use std::fs;\nuse a::{\n  b,\n};\n", "fn main() {}\n"],
  ])("code search shows chunks without their leading imports: %s", (_language, imports, rest) => {
    const shown = (text: string) => {
      const bytes = Buffer.from(text);
      return withoutImports([{ startLine: 1, endLine: text.split("\n").length - 1, from: 0, to: bytes.length }], bytes);
    };
    const [chunk] = shown(imports + rest);
    expect(chunk).toMatchObject({ from: Buffer.byteLength(imports), to: Buffer.byteLength(imports + rest) });
    expect(chunk!.startLine).toBe(imports.split("\n").length);
    expect(shown(rest)[0]!.startLine).toBe(1);
    expect(shown(imports)).toHaveLength(1);
  });
});

describe("the search index", () => {
  it("the code search index reads only changed files", async () => {
    const folder = folderOf({
      "src/retry.ts": "export function retry() {}\n",
      "b.ts": "export const b = 1;\n",
      "c.png": "x",
    });
    const config = folderOf({});
    const open = () => new CodeIndex(codeIndexFile(config, folder));
    const update = async (paths = ["src/retry.ts", "b.ts", "c.png"]) => {
      const index = open();
      try {
        return await createSearch({ index, folder }).update(paths, signal);
      } finally {
        index.close();
      }
    };
    expect(await update()).toMatchObject({ read: 2, removed: 0 });
    expect(await update()).toMatchObject({ read: 0, removed: 0 });
    utimesSync(join(folder, "b.ts"), 1, 1);
    expect(await update()).toMatchObject({ read: 0 }); // the same content
    writeFileSync(join(folder, "b.ts"), "export const changed = 2;\n");
    expect(await update()).toMatchObject({ read: 1, removed: 0 });
    rmSync(join(folder, "b.ts"));
    expect(await update()).toMatchObject({ read: 0, removed: 1 });
    expect(await update([])).toMatchObject({ removed: 1 }); // hidden from now on
    expect(statSync(codeIndexFile(config, folder)).mode & 0o077).toBe(0);
  });

  it("code search rebuilds a damaged index, and two processes can write to it", async () => {
    const folder = folderOf({ "a.ts": "export function openSocket() {}\n" });
    const file = join(folderOf({ "index.db": "no database at all, ".repeat(100) }), "index.db");
    const index = new CodeIndex(file);
    const other = new CodeIndex(file);
    const both = [index, other].map((each) => createSearch({ index: each, folder }));
    await Promise.all(both.map((search) => search.update(["a.ts"], signal)));
    expect((await both[0]!.find("where is a connection begun?")).map((hit) => hit.path)).toEqual(["a.ts"]);
    expect(index.totals().count).toBe(1);
    index.close();
    other.close();
  });

  it("code search works without a stored index, and says so", async () => {
    const folder = folderOf({ "a.ts": "export function openSocket() {}\n" });
    const blocked = join(folderOf({ projects: "a file where a folder should be" }));
    const place = { folder, files: ["a.ts"], unread: [], isWanted: () => true };
    const read = async (path: string) => readFileSync(path);
    const rest = { most: 5, embeddings: undefined, env: undefined, signal, read };
    const { hits, notices } = await searchFolders("where is a connection begun?", [place], {
      ...rest,
      indexDir: blocked,
    });
    expect(hits.map((hit) => hit.path)).toEqual([join(folder, "a.ts")]);
    expect(notices).toEqual([expect.stringContaining("The index could not be saved")]);
  });

  it("hostile lines do not slow down the code search index", () => {
    const lines = [`a(${") : ".repeat(70)}`, `export ${"async ".repeat(50)}`, `x${"(".repeat(250)}`, " ".repeat(299)];
    const started = performance.now();
    for (const line of lines) cutIntoChunks(Buffer.from(`${line}\n`.repeat(800)), "a.ts");
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it("code search does not index binary files", async () => {
    const folder = folderOf({
      "blob.ts": "retry\0retry",
      "packed.js": `retry(${"a,".repeat(20_000)})`,
      "good.ts": "retry()\n",
    });
    const index = new CodeIndex(undefined);
    const search = createSearch({ index, folder });
    await search.update(["blob.ts", "packed.js", "good.ts"], signal);
    expect((await search.find("retry")).map((hit) => hit.path)).toEqual(["good.ts"]);
    index.close();
  });
});
