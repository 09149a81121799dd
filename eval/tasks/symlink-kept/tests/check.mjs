import assert from "node:assert/strict";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";

assert.ok(lstatSync("current.conf").isSymbolicLink(), "current.conf is not a link any more");
assert.equal(readlinkSync("current.conf"), "configs/b.conf", "the link leads elsewhere");
assert.equal(readFileSync("configs/b.conf", "utf8"), "mode=fast\n", "the configuration in use is not fast");
assert.equal(readFileSync("configs/a.conf", "utf8"), "mode=slow\n", "the other configuration was changed");
