import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const text = readFileSync("config.json", "utf8");
const value = JSON.parse(text);
assert.deepEqual(value.features, ["login", "export", "search"], "features are wrong");
assert.deepEqual(value.limits, { retries: 5, timeout: 30 }, "limits are wrong");
assert.equal(value.big, 12345678901234567890, "another value was changed");
assert.deepEqual(Object.keys(value), ["zone", "features", "limits", "big", "title"], "the keys are in another order");
assert.equal(value.title, "Ünï – “quoted”", "another value was changed");
assert.ok(text.includes("12345678901234567890"), "a large number lost its digits");
assert.ok(/^\t"features"/m.test(text) && !/^ +"/m.test(text), "the indentation was changed");
