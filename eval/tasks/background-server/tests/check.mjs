import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";

const version = createHash("sha256").update("version").digest("hex").slice(0, 12);
assert.equal(readFileSync("version.txt", "utf8").trim(), version, "version.txt is wrong");
assert.ok(!existsSync("server.pid"), "the server was not stopped");
