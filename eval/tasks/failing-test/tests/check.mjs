import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const { median } = await import(`${process.cwd()}/median.mjs`);
assert.equal(median([10, 9, 1]), 9, "numbers are still sorted as words");
assert.equal(median([100, 20, 3, 1000]), 60, "numbers are still sorted as words");
const given = [3, 1, 2];
median(given);
assert.deepEqual(given, [3, 1, 2], "the argument is changed");
const test = readFileSync("median.test.mjs", "utf8");
assert.ok(test.includes("median([10, 9, 1]), 9"), "the tests were changed");
