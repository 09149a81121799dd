import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

assert.deepEqual(JSON.parse(readFileSync("stock.json", "utf8")), { bolt: 4, nut: 8827 }, "the numbers are wrong");
