import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const filler = Array.from({ length: 1200 }, (_, index) => `var v${index}=${index};`);
const lines = [...filler.slice(0, 800), "var RETRY_LIMIT=7;", ...filler.slice(800)];
assert.equal(readFileSync("bundle.js", "utf8"), lines.join(""), "bundle.js is not as it should be");
