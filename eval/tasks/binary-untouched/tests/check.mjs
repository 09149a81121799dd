import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

assert.equal(readFileSync("a.txt", "utf8"), "The color of a.\n", "a.txt is wrong");
assert.equal(readFileSync("docs/b.md", "utf8"), "# color\n\nOne color, two colors.\n", "docs/b.md is wrong");
const digest = createHash("sha256").update(readFileSync("image.bin")).digest("hex");
const expected = Buffer.concat([Buffer.from([0, 255, 254, 0, 1]), Buffer.from("colour"), Buffer.from([0, 200])]);
assert.equal(digest, createHash("sha256").update(expected).digest("hex"), "image.bin was changed");
