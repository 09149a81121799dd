import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const path = `tree/${Array.from({ length: 30 }, (_, index) => `level-${index + 1}`).join("/")}/limits.json`;
assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { min: 1, max: 100 }, "the limits are wrong");
