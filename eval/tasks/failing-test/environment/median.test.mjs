import assert from "node:assert/strict";
import test from "node:test";
import { median } from "./median.mjs";

test("odd", () => assert.equal(median([3, 1, 2]), 2));
test("even", () => assert.equal(median([4, 1, 2, 3]), 2.5));
test("several digits", () => assert.equal(median([10, 9, 1]), 9));
