import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const expected = createHash("sha256").update("attempt 3").digest("hex");
assert.equal(readFileSync("data.txt", "utf8").trim(), expected, "data.txt was not made by the script");
assert.equal(readFileSync(".attempts", "utf8").trim(), "3", "the script did not run as often as it must");
