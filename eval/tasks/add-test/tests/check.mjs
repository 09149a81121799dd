import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = readFileSync("slug.mjs", "utf8");
const accents = '.normalize("NFD").replace(/[\\u0300-\\u036f]/g, "")';
const dashes = '.replace(/\\s+/g, "-")';
assert.ok(source.includes(accents) && source.includes(dashes), "slug.mjs was changed");

/** Whether its tests pass with another slug.mjs. */
function passes(code) {
  const folder = mkdtempSync(join(tmpdir(), "add-test-"));
  cpSync("slug.test.mjs", join(folder, "slug.test.mjs"));
  writeFileSync(join(folder, "slug.mjs"), code);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync("node", ["--test", "slug.test.mjs"], { cwd: folder, env }).status === 0;
}

assert.ok(passes(source), "the test does not pass");
assert.ok(!passes(source.replace(accents, "")), "the test does not notice accents");
assert.ok(!passes(source.replace(dashes, "")), "the test does not notice blanks");
