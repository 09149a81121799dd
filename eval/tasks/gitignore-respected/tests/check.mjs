import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

assert.equal(readFileSync("links.txt", "utf8"), "https://example.com\n", "links.txt is wrong");
assert.equal(readFileSync("src/page.html", "utf8"), '<a href="https://example.com/a">a</a>\n', "src/page.html is wrong");
assert.equal(readFileSync("build/page.html", "utf8"), '<a href="http://example.com/a">a</a>\n', "build was changed");
const changed = execFileSync("git", ["status", "--porcelain"], { encoding: "utf8" });
assert.equal(changed, " M links.txt\n M src/page.html\n", "other files were changed");
