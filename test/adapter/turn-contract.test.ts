// Every point of the turn contract is kept by a test: the table beside this file says which.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run-cli.ts";

type Point = { about: string; tests: string[] };

const points = JSON.parse(readFileSync(join(import.meta.dirname, "turn-contract.json"), "utf8")) as Point[];

test.each(points)("$about: its tests are there", ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0);
  for (const name of tests) {
    const [file = "", title = ""] = name.split(/ > (.*)/s);
    expect(titlesIn(file), name).toContain(title);
  }
});

const known = new Map<string, string[]>();

/** Titles as the source spells them; those of tests that are skipped are ignored. */
function titlesIn(file: string): string[] {
  const found = known.get(file);
  if (found) return found;
  const source = readFileSync(join(repository, "test", file), "utf8");
  const titles: string[] = [];
  // `test("…"`, `test.each(…)("…"`, `it(…`: the title is the first text after the opening of the last call.
  for (const [, title] of source.matchAll(
    /(?:^|\s)(?:test|it)(?:\.concurrent)?(?:\.each\(\w+\)|\.each\([\s\S]*?\]\))?\(\s*"((?:[^"\\]|\\.)*)"/g,
  ))
    titles.push(JSON.parse(`"${title}"`) as string);
  known.set(file, titles);
  return titles;
}
