import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const bytes = readFileSync("names.csv");
assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], "the byte order mark is gone");
assert.equal(bytes.subarray(3).toString("utf8"), "name;city\nZoé;Paris\nJosé;Lyon\n", "the lines are wrong");
