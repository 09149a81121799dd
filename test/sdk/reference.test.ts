// The pages that are made from the source are as the source makes them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reference } from "../../scripts/sdk-reference.ts";
import { repository } from "../support/run-cli.ts";

const read = (path: string) => readFileSync(join(repository, path), "utf8");

test("docs/sdk/reference.md is current: npm run reference", () => {
  expect(read("docs/sdk/reference.md")).toBe(reference());
});

test("every option and every field of a result has its words", () => {
  const rows = read("docs/sdk/reference.md")
    .split("\n")
    .filter((line) => /^\| `\w+` \| `/.test(line));
  expect(rows.length).toBeGreaterThan(70);
  expect(rows.filter((row) => / \|\s+\|$/.test(row))).toEqual([]);
});

test("docs/peers.svg is drawn from docs/peers.json: npm run peers-plot", async () => {
  const { peersPlot } = await import("../../scripts/peers-plot.mjs" as string);
  expect(read("docs/peers.svg")).toBe(peersPlot(JSON.parse(read("docs/peers.json"))));
});
