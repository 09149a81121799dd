import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";

const expected = '{\n  "name": "sample",\n  "version": "1.0.0",\n  "license": "MIT"\n}\n';
assert.equal(readFileSync("package.json", "utf8"), expected, "package.json was changed");
assert.deepEqual(readdirSync("."), ["package.json"], "files were made");
