// Whatever restricts a run holds, whichever way the run is started. All cells, each by itself: npm run long -- doors.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repository } from "../support/run-cli.ts";
import { doors, Home } from "./doors.ts";
import { faultsOfAll, shortCells } from "./matrix.ts";

const home = new Home();
beforeAll(() => home.begin());
afterAll(() => home.end());

it("every restriction of a run applies wherever the run can start", { timeout: 240_000 }, async () => {
  expect(await faultsOfAll(shortCells(), home)).toEqual([]);
});

/** What a source file takes from another to start a run, or to send one away. */
const starters = /\b(openRun|openLive|openOwn|newRun|newSpec|followUp|hostRun)\b|\bstart\b.*\brun\.ts/;
const imported = /import (?:\{[^}]*\} from "[^"]*"|\("[^"]*"\))|\{[^{}]*\} = await import\("[^"]*"\)/g;

function startsRuns(source: string): boolean {
  return (source.match(imported) ?? []).some((each) => !each.includes("import type") && starters.test(each));
}

it("the table of places where a run can start lists all in the source", () => {
  const root = join(repository, "src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const found = files.filter((name) => startsRuns(readFileSync(join(root, name), "utf8")));
  const known = Object.values(doors).flatMap(({ starts = [] }) => starts);
  expect(known.toSorted()).toEqual(found.toSorted());
});
