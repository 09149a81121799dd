import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";

const { greet } = await import(`${process.cwd()}/greet.mjs`);
assert.equal(greet("Ada"), "Hello, Ada!", "the greeting is wrong");
assert.deepEqual(readdirSync(".").sort(), ["README.md", "greet.mjs"], "files came or went");
assert.equal(readFileSync("README.md", "utf8"), "The function greet() greets people.\n", "README.md was changed");
