import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const totals = JSON.parse(readFileSync("totals.json", "utf8"));
const byName = Object.fromEntries(Object.entries(totals).map(([name, count]) => [name.replace(/^.*\//, ""), count]));
assert.deepEqual(byName, { "one.txt": 1, "three.txt": 3, "five.txt": 5 }, "the numbers are wrong");
