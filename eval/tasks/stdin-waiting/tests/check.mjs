import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

assert.deepEqual(JSON.parse(readFileSync("user.json", "utf8")), { name: "Ada", age: 36, by: "register" }, "user.json is wrong");
