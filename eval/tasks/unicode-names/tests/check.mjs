import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";

assert.deepEqual(readdirSync("."), ["日本語"], "there are other files");
assert.deepEqual(readdirSync("日本語"), ["naïve café 🎉.txt"], "the name was changed");
assert.equal(readFileSync("日本語/naïve café 🎉.txt", "utf8"), "Ein new Wort – 新しい\n", "the text is wrong");
