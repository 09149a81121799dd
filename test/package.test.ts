// The package as it would be published: publint and attw find nothing, a strict program compiles against it and runs.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "./support/run-cli.ts";

it("the package is complete, typed, and loads no database before it is needed", () => {
  const output = execFileSync(process.execPath, [join(repository, "scripts/check-package.mjs")], { encoding: "utf8" });
  const [entries, databases, page] = output.trim().split("\n");
  expect([entries, databases]).toEqual(["user 1 true true true", "0 databases"]);
  // A page of another program that shows a timeline, with preact, before anything is highlighted.
  const kilobytes = Number(/^page of (\d+) kB$/.exec(page!)![1]);
  expect(kilobytes).toBeLessThanOrEqual(60);
}, 400_000);
