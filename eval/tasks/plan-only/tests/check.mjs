import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";

assert.deepEqual(readdirSync("."), ["app.mjs"], "files came or went");
const { readAll, writeAll } = await import(`${process.cwd()}/app.mjs`);
assert.ok(readAll() === "read" && writeAll() === "write", "app.mjs was changed");
const answer = existsSync("/logs/agent/answer.txt") ? readFileSync("/logs/agent/answer.txt", "utf8") : "";
assert.ok(/read/i.test(answer) && /writ/i.test(answer), "there is no plan in the answer");
