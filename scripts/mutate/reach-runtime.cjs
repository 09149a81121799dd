// Loaded into every process of a tree with probes: keeps which functions each test has reached, and writes it down.
const { appendFileSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const tree = __dirname;
const isTestRunner = process.env.VITEST !== undefined && process.env.VITEST_WORKER_ID !== undefined;
let reached = new Map();
let current = "";
let timer;

globalThis.reachGeneration = 1;
globalThis.reachTest = (name) => {
  if (current === name) return;
  current = name;
  // Every function is told of again for another test.
  globalThis.reachGeneration++;
};
globalThis.reachFlush = flush;
process.once("exit", flush);

function currentTest() {
  if (isTestRunner) return current;
  if (current === "")
    try {
      current = readFileSync(join(tree, "mutant-test"), "utf8");
    } catch {
      current = "?";
    }
  return current;
}

function flush() {
  clearTimeout(timer);
  timer = undefined;
  if (reached.size === 0) return;
  const lines = [...reached].map(([test, functions]) => `${JSON.stringify([test, [...functions]])}\n`);
  reached = new Map();
  try {
    appendFileSync(join(tree, "mutant-reach"), lines.join(""));
  } catch {
    // Another user, or a process that may not write here: it is not counted.
  }
}

module.exports = (file, number) => {
  const test = currentTest();
  let functions = reached.get(test);
  if (!functions) reached.set(test, (functions = new Set()));
  functions.add(`${file}:${number}`);
  if (!isTestRunner && timer === undefined) timer = setTimeout(flush, 100).unref();
};
