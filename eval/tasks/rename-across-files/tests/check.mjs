import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const at = (name) => `${process.cwd()}/src/${name}`;
const user = await import(at("user.mjs"));
assert.equal(user.loadUser?.(7).name, "user 7", "loadUser is missing");
assert.equal(user.fetchUser, undefined, "fetchUser is still there");
assert.equal(user.fetchUserAgent?.(), "courser-eval/1", "fetchUserAgent was renamed");
const { report } = await import(at("report.mjs"));
assert.equal(report([1, 2]), "courser-eval/1: user 1, user 2", "report is broken");
const { cached } = await import(at("cache.mjs"));
assert.equal(cached(3).name, "user 3", "cache is broken");
const readme = readFileSync("README.md", "utf8");
assert.ok(/loadUser/.test(readme) && !/fetchUser\b/.test(readme), "README.md has the old name");
