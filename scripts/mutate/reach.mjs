// Which tests can notice a change: every test file is run once with probes in all functions of src/, also in the programs that it
// starts. What was found is kept, so that later only new and changed test files are run again.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startHelper } from "./helper.mjs";
import { withProbes } from "./mutants.mjs";
import {
  buildTree,
  currentFile,
  makeTree,
  reachFile,
  removeTree,
  root,
  sourceFiles,
  sourceOf,
  testFiles,
} from "./tree.mjs";

const cacheFile = join(root, "node_modules/.cache/mutate/reach.json");
/** They build, install or read the source itself, or take minutes to look at what others look at too. */
const leftOut =
  /\/(architecture|docs|stands-alone|install|package|first-hour|nats-cluster|nats-processes|stress|race|fuzz|cases-cli|matrix|reference|documented-types|ci|endurance|long-scripts|speed|load|power-cut|kill)\.test\.ts$/;
const longestFileMs = 150_000;

/**
 * For each test file: which of its tests fail without any change, how long it takes, and for each function `file:number` the numbers
 * of the tests that reach it, `true` for all of them. Without `isNew` what is not known yet stays so.
 */
export async function reachOfTests({ workers, log, isNew, isWanted }) {
  const kept = readCache();
  const files = testFiles().filter((file) => !leftOut.test(file) && isWanted(file));
  const found = {};
  for (const file of files) if (kept[file]?.hash === hashOf(file)) found[file] = kept[file];
  const missing = isNew ? files.filter((file) => !found[file]) : [];
  const save = () => {
    mkdirSync(dirname(cacheFile), { recursive: true });
    // Whole or not at all, with what another run has found meanwhile.
    writeFileSync(`${cacheFile}.${process.pid}`, JSON.stringify({ ...readCache(), ...found }));
    renameSync(`${cacheFile}.${process.pid}`, cacheFile);
  };
  if (missing.length > 0) {
    log(`Looking which functions the tests of ${missing.length} files reach.`);
    await Promise.all(
      Array.from({ length: Math.min(workers, missing.length) }, () => watch(missing, found, { save, log })),
    );
    save();
  }
  for (const file of files) found[file] ??= {};
  return found;
}

function readCache() {
  try {
    return JSON.parse(readFileSync(cacheFile, "utf8"));
  } catch {
    return {};
  }
}

async function watch(missing, found, { save, log }) {
  const tree = makeTree();
  try {
    copyFileSync(join(import.meta.dirname, "reach-runtime.cjs"), join(tree, "reach-runtime.cjs"));
    buildTree(
      tree,
      sourceFiles().map((file) => [file, probed(tree, file)]),
    );
    const helper = await startHelper(tree, "watch");
    for (let file = missing.shift(); file; file = missing.shift()) {
      rmSync(reachFile(tree), { force: true });
      writeFileSync(currentFile(tree), "(setup)");
      const answer = await helper.run({ files: [file] }, longestFileMs);
      found[file] = { hash: hashOf(file), ...summary(answer), ...reached(tree) };
      const { problem, failing = [], ms, functions } = found[file];
      for (const name of failing) log(`fails without any change: ${name}`);
      log(
        `${problem ? `left out (${problem})` : `${(ms / 1000).toFixed(1)} s`}, ${Object.keys(functions).length} functions: ${file}`,
      );
      save();
    }
    helper.stop();
  } finally {
    removeTree(tree);
  }
}

function summary(answer) {
  if (answer === "lost") return { problem: "no end", ms: longestFileMs };
  if (answer.error) return { problem: answer.error.slice(0, 200), ms: 0 };
  const failing = [...new Set(answer.failed.map(({ name }) => name))];
  // Tests that fail without any change are passed over; a file of which nothing can be told is left out.
  const isLost = failing.length >= mostFailing || failing.includes("(loading)") || answer.passed === 0;
  return { ...(isLost && { problem: `${failing[0]} fails` }), ...(failing.length > 0 && { failing }), ms: answer.ms };
}

function probed(tree, file) {
  const runtime = JSON.stringify(join(tree, "reach-runtime.cjs"));
  const prelude =
    `globalThis.reachHit ??= globalThis.process?.getBuiltinModule?.("node:module").createRequire(${runtime})(${runtime}) ?? (() => {});` +
    `const reachSeen: number[] = []; const reachHere = (n: number) => { const g = globalThis as any; if (reachSeen[n] !== g.reachGeneration) ` +
    `{ reachSeen[n] = g.reachGeneration; g.reachHit(${JSON.stringify(file)}, n); } }; reachHere(0);\n`;
  return prelude + withProbes(file, sourceOf(file), "reachHere");
}

const mostFailing = 15;
/** At most so many tests of a file are told apart. */
const mostTests = 60;

/** `tests`: their names, which `functions` count from 0. */
function reached(tree) {
  const functions = {};
  const numbers = new Map();
  const text = existsSync(reachFile(tree)) ? readFileSync(reachFile(tree), "utf8") : "";
  for (const line of text.split("\n").filter(Boolean)) {
    const [test, names] = JSON.parse(line);
    if (!numbers.has(test)) numbers.set(test, numbers.size);
    const number = numbers.get(test);
    for (const name of names) {
      const known = functions[name];
      if (known === true) continue;
      if (test === "(setup)" || test === "?" || known?.length === mostTests) functions[name] = true;
      else if (!known) functions[name] = [number];
      else if (!known.includes(number)) known.push(number);
    }
  }
  return { tests: [...numbers.keys()], functions };
}

function hashOf(file) {
  return createHash("sha256").update(sourceOf(file)).digest("hex").slice(0, 16);
}
