// Every line of the contract's document is kept by a test: the table beside this file says which.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repository } from "../support/run-cli.ts";

type Row = { lines: [first: number, last: number]; sha256: string; about: string; tests: string[] };

const table = JSON.parse(readFileSync(join(import.meta.dirname, "seed-004.json"), "utf8")) as {
  document: string;
  lines: number;
  rows: Row[];
};
const document = join(repository, "../shared", table.document);

test("no line is missing, and none is there twice", () => {
  let next = 1;
  for (const { lines, about } of table.rows) {
    expect(lines[0], about).toBe(next);
    expect(lines[1], about).toBeGreaterThanOrEqual(lines[0]);
    next = lines[1] + 1;
  }
  expect(next).toBe(table.lines + 1);
});

describe("every row names tests that are there", () => {
  test.each(table.rows)("$about", ({ tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const name of tests) {
      const [file = "", title = ""] = name.split(/ > (.*)/s);
      expect(titlesIn(file), name).toContain(title);
    }
  });
});

test.skipIf(!existsSync(document))("the document is the one that was read", () => {
  const text = readFileSync(document, "utf8").replace(/\n+$/, "").split("\n");
  expect(text).toHaveLength(table.lines);
  for (const { lines, sha256, about } of table.rows) {
    const hash = createHash("sha256")
      .update(text.slice(lines[0] - 1, lines[1]).join("\n"))
      .digest("hex");
    expect(hash.slice(0, 12), about).toBe(sha256);
  }
});

const known = new Map<string, string[]>();

/** Titles as the source spells them; those of tests that are skipped do not count. */
function titlesIn(file: string): string[] {
  const found = known.get(file);
  if (found) return found;
  const source = readFileSync(join(repository, "test", file), "utf8");
  const titles: string[] = [];
  // `test("…"`, `test.each(…)("…"`, `it(…`: the title is the first text after the opening of the last call.
  for (const [, title] of source.matchAll(
    /(?:^|\s)(?:test|it)(?:\.each\([\s\S]*?\]\)|\.each\(\w+\))?\(\s*"((?:[^"\\]|\\.)*)"/g,
  ))
    titles.push(JSON.parse(`"${title}"`) as string);
  known.set(file, titles);
  return titles;
}
