// The pages that are made from the source are as the source makes them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Figures, peersPlot, withPeers } from "../../bench/peers/report.ts";
import { reference } from "../../scripts/sdk-reference.ts";
import { repository } from "../support/run-cli.ts";

const read = (path: string) => readFileSync(join(repository, path), "utf8");

test("docs/sdk/reference.md is current: npm run long -- reference", () => {
  expect(read("docs/sdk/reference.md")).toBe(reference());
});

test("docs describe every option and result field of the SDK", () => {
  const rows = read("docs/sdk/reference.md")
    .split("\n")
    .filter((line) => /^\| `\w+` \| `/.test(line));
  expect(rows.length).toBeGreaterThan(70);
  expect(rows.filter((row) => / \|\s+\|$/.test(row))).toEqual([]);
});

test("docs/peers.svg and docs/benchmarks.md match docs/peers.json (npm run bench -- --peers DIR)", () => {
  const figures = JSON.parse(read("docs/peers.json")) as Figures;
  expect(read("docs/peers.svg")).toBe(peersPlot(figures));
  expect(read("docs/benchmarks.md")).toBe(withPeers(read("docs/benchmarks.md"), figures));
});
