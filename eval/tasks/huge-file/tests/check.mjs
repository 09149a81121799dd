import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";

assert.equal(readFileSync("answer.txt", "utf8").trim(), "req-0123457", "answer.txt has another id");
assert.ok(statSync("server.log").size > 12_000_000, "server.log was changed");
