import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

assert.ok(!existsSync("lib"), "lib is still there");
for (const name of ["total.mjs", "math/add.mjs"]) assert.ok(existsSync(`src/core/${name}`), `src/core/${name} is missing`);
assert.equal(execFileSync("node", ["main.mjs"], { encoding: "utf8" }), "12\n", "main.mjs prints something else");
