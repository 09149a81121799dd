import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";

assert.equal(statSync("release.sh").mode & 0o777, 0o755, "the mode was changed");
assert.equal(execFileSync("./release.sh", { encoding: "utf8" }), "Releasing to production\n", "it says something else");
