import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const expected = "[server]\r\nhost=localhost\r\ntimeout=60\r\n\r\n[log]\r\nlevel=info\r\n";
assert.equal(readFileSync("settings.ini", "latin1"), expected, "settings.ini is not as it should be");
