// Told to the test runner where reached functions are kept: which test is running, for it and for the programs that it starts.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";

const tree = join(import.meta.dirname, "../..");
createRequire(import.meta.url)(join(tree, "reach-runtime.cjs"));

/** Outside of every test: what a file prepares. */
const tell = (name) => {
  globalThis.reachTest(name);
  writeFileSync(join(tree, "mutant-test"), name);
};

tell("(setup)");
beforeAll(() => tell("(setup)"));
beforeEach(({ task }) => tell(fullName(task)));
afterAll(() => globalThis.reachFlush());

function fullName(task) {
  const names = [];
  for (let each = task; each && each.name !== undefined && each !== each.file; each = each.suite)
    names.unshift(each.name);
  return names.join(" ");
}
