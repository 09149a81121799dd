// Which tests are shown a change, and in which order: those that reach it, the likeliest for their time first.
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { root, sourceOf } from "./tree.mjs";

/** Together they cost one start of the test runner. */
const batchMs = 6000;
/** The likeliest alone: most changes are noticed by it. */
const firstBatchMs = 2500;
/** Of a file that takes longer by itself, the tests that reach the change are asked first. */
const longFileMs = 5000;

/**
 * The runs of the test runner that a change is shown to, one after the other: `{ files, names, ms }`. Tests whose reach is known are
 * chosen by it; others when they import the file, or are named like it.
 */
export function batchesFor(mutant, reach) {
  const key = `${mutant.file}:${mutant.function}`;
  const chosen = Object.entries(reach).flatMap(([file, { problem, failing, ms, tests: names, functions }]) => {
    if (problem) return [];
    if (!functions) return isNear(file, mutant.file) ? [{ file, ms: 3000 }] : [];
    const reached = functions[key] ?? (opensPage(file) && isOfPage(mutant.file) ? true : undefined);
    const tests = Array.isArray(reached) ? reached.map((number) => names[number]) : reached;
    return tests ? [{ file, ms, tests, failing }] : [];
  });
  const ranked = chosen
    .map((each) => ({ ...each, rank: closeness(each, mutant) / (500 + each.ms) }))
    .sort((a, b) => b.rank - a.rank);
  const quick = ranked.filter(({ ms, tests }) => ms <= longFileMs || !isSome(tests));
  const long = ranked.filter((each) => !quick.includes(each));
  const batches = [];
  for (const { file, ms, failing } of quick) {
    const last = batches.at(-1);
    if (!failing && last && !last.names && last.ms + ms <= (batches.length === 1 ? firstBatchMs : batchMs)) {
      last.files.push(file);
      last.ms += ms;
    } else batches.push({ files: [file], ms, names: failing && pattern(undefined, failing) });
  }
  const filtered = long.map(({ file, ms, tests, failing }) => ({ files: [file], names: pattern(tests, failing), ms }));
  const whole = long.map(({ file, ms, failing }) => ({
    files: [file],
    ms,
    names: failing && pattern(undefined, failing),
  }));
  // The nearest come first, whatever they take; then what is quick, then what is left of the long ones.
  const [first, ...rest] = batches;
  return [...(first ? [first] : []), ...filtered.slice(0, 2), ...rest, ...filtered.slice(2), ...whole];
}

function isSome(tests) {
  return Array.isArray(tests) && tests.length <= 40;
}

/** The names of tests, but for those that fail anyway. */
function pattern(tests, failing = []) {
  const oneOf = (names) => `(?:${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})$`;
  return `^${failing.length > 0 ? `(?!${oneOf(failing)})` : ""}${tests ? oneOf(tests) : ""}`;
}

function closeness({ file, tests }, mutant) {
  const isNamed = wordsOf(file).some((word) => wordsOf(mutant.file).includes(word));
  const isBeside = file.split("/")[1] === mutant.file.split("/")[1];
  const importsIt = importsOf(file).has(mutant.file);
  // Few tests of a file that reach something are about it; when all do, it is a thing in passing.
  const isSpecial = Array.isArray(tests);
  return 1 + (isNamed ? 8 : 0) + (isBeside ? 3 : 0) + (importsIt ? 8 : 0) + (isSpecial ? 2 : 0);
}

function isNear(file, source) {
  return (
    importsOf(file).has(source) ||
    (isBeside(file, source) && wordsOf(file).some((word) => wordsOf(source).includes(word)))
  );
}

function isBeside(file, source) {
  return file.split("/")[1] === source.split("/")[1];
}

/** The studio's page runs in a browser, where nothing is counted. */
function opensPage(file) {
  return file.startsWith("test/studio/") && /browser\.ts"/.test(sourceOf(file));
}

export function isOfPage(file) {
  return file.startsWith("src/studio/");
}

function wordsOf(file) {
  return basename(file)
    .replace(/(\.test)?\.tsx?$/, "")
    .split("-")
    .filter((word) => word.length > 3 && word !== "index");
}

const known = new Map();

/** The source files that a test imports, by itself or through its helpers. */
function importsOf(file, seen = new Set()) {
  if (known.has(file)) return known.get(file);
  seen.add(file);
  const found = new Set();
  for (const [, name] of sourceOf(file).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
    const path = join(dirname(file), name);
    if (path.startsWith("src/")) found.add(path);
    else if (path.startsWith("test/") && /\.tsx?$/.test(path) && !seen.has(path) && existsSync(join(root, path)))
      for (const each of importsOf(path, seen)) found.add(each);
  }
  known.set(file, found);
  return found;
}
