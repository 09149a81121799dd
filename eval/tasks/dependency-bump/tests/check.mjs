import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

assert.equal(execFileSync("node", ["main.mjs"], { encoding: "utf8" }), "EUR 1234.50\n", "main.mjs prints something else");
assert.ok(!existsSync("vendor/format-1"), "version 1 is still there");
const { imports } = JSON.parse(readFileSync("package.json", "utf8"));
assert.equal(imports["#format"], "./vendor/format-2/index.mjs", "#format is not version 2");
assert.ok(readFileSync("vendor/format-2/index.mjs", "utf8").includes("currency is required"), "the library was changed");
