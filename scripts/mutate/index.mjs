// `npm run long -- mutate [--folder src/NAME,…] [--file NAME,…] [--since REV] [--sample N] [--seed S] [--again] [--tests PATH,…] [--budget SECONDS] [--show]`:
// changes the source one small thing at a time and looks whether a test notices. A change is shown only to tests that reach it and
// that pass without it. `--sample` is for each folder; `--since` takes the lines that changed; `--again` the survivors of the last
// run; `--tests` leaves all other tests out. Prints the share of each folder and what survived: which test is missing.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { batchesFor, isOfPage } from "./choose.mjs";
import { startHelper } from "./helper.mjs";
import { mutantsOf, withMutants } from "./mutants.mjs";
import { reachOfTests } from "./reach.mjs";
import { buildTree, chosenFile, makeTree, removeTree, root, sourceFiles, sourceOf } from "./tree.mjs";

/** What each folder must reach, in percent; the folders that others' safety and data hang on are held to more. */
const wantedShare = (folder) => (["policy", "process", "run", "store"].includes(folder) ? 95 : 85);
const fewestLines = 200;
const reportFile = join(root, "node_modules/.cache/mutate/report.json");
const { values: options } = parseArgs({
  options: {
    folder: { type: "string" },
    file: { type: "string" },
    since: { type: "string" },
    sample: { type: "string" },
    tests: { type: "string" },
    seed: { type: "string", default: "1" },
    budget: { type: "string", default: "60" },
    workers: { type: "string", default: "2" },
    again: { type: "boolean", default: false },
    show: { type: "boolean", default: false },
    "no-reach": { type: "boolean", default: false },
  },
});
const log = (text) => console.error(text);
const folderOf = (file) => file.split("/")[1];
/** As they were when this began: where a change is counts from the beginning of its file. */
const texts = new Map(sourceFiles().map((file) => [file, sourceOf(file)]));

const equivalent = JSON.parse(readFileSync(join(import.meta.dirname, "equivalent.json"), "utf8"));
const mutants = numbered(sampled(wanted()));
if (mutants.length === 0) {
  console.log("There is nothing to change.");
  process.exit(0);
}
const reach = await reachOfTests({
  workers: Number(options.workers),
  log,
  isNew: !options["no-reach"],
  isWanted: (file) => options.tests?.split(",").some((each) => file.startsWith(each)) ?? true,
});
log(`${mutants.length} changes, seed ${options.seed}.`);
const waiting = [...mutants];
const done = [];
/** Choices of tests, and whether they pass without any change. */
const fine = new Map();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(done.length > 0 ? report() : 1));
await Promise.all(Array.from({ length: Math.min(Number(options.workers), mutants.length) }, () => work()));
process.exit(report());

/** Takes changes one by one, in a tree that holds them all. */
async function work() {
  const tree = makeTree();
  try {
    buildTree(tree, changedTexts(tree));
    const helper = await startHelper(tree);
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const result = await noticed(mutant, { tree, helper });
      done.push({ ...mutant, ...result });
      if (options.show || !result.by) log(line({ ...mutant, ...result }));
      if (done.length % 20 === 0) log(`${done.length} of ${mutants.length}`);
    }
    helper.stop();
  } finally {
    removeTree(tree);
  }
}

async function noticed(mutant, { tree, helper }) {
  const batches = batchesFor(mutant, reach);
  const started = performance.now();
  let asked = 0;
  for (const batch of batches) {
    if (performance.now() - started > Number(options.budget) * 1000) break;
    choose(tree, mutant.number);
    // Others use the machine too: a test that hangs takes longer than any of that.
    const answer = await helper.run(batch, 4 * batch.ms + 45_000);
    asked++;
    const failed =
      answer === "lost" ? [{ file: batch.files.join(" "), name: "came to no end" }] : (answer.failed ?? []);
    if (failed.length === 0) continue;
    if (await passesWithout(batch, failed, { tree, helper })) return { by: `${failed[0].file}: ${failed[0].name}` };
  }
  return { asked, of: batches.length };
}

/** The same run without the change, once for each choice of tests: what fails then says nothing. */
async function passesWithout(batch, failed, { tree, helper }) {
  const files = [...new Set(failed.flatMap(({ file }) => file.split(" ")))];
  const key = JSON.stringify([files, batch.names]);
  const before = fine.get(key);
  if (before !== undefined) return before;
  choose(tree, 0);
  const answer = await helper.run({ files, names: batch.names }, 4 * batch.ms + 45_000);
  const isFine = answer !== "lost" && !answer.error && answer.failed.length === 0;
  fine.set(key, isFine);
  if (!isFine)
    log(
      `left out, for it fails without any change: ${files.join(" ")} ${JSON.stringify(answer.failed?.[0] ?? answer)}`,
    );
  return isFine;
}

/** Processes read the number when they start; the scripts of the page cannot and are told by their first line. */
function choose(tree, number) {
  writeFileSync(chosenFile(tree), String(number));
  if (!mutants.some(({ file }) => isOfPage(file))) return;
  const page = join(tree, "dist/studio");
  for (const name of readdirSync(page).filter((each) => each.endsWith(".js"))) {
    const text = readFileSync(join(page, name), "utf8").replace(/^globalThis\.mutantChosen=\d+;\n/, "");
    writeFileSync(join(page, name), `globalThis.mutantChosen=${number};\n${text}`);
  }
}

function changedTexts(tree) {
  const files = [...new Set(mutants.map(({ file }) => file))];
  const path = JSON.stringify(chosenFile(tree));
  const prelude = `const mutantChosen = (globalThis as any).mutantChosen ??= Number(globalThis.process?.getBuiltinModule?.("node:fs").readFileSync(${path}, "utf8") ?? 0);\n`;
  return files.map((file) => {
    const own = mutants.filter((mutant) => mutant.file === file);
    return [file, prelude + withMutants(texts.get(file), own, "mutantChosen")];
  });
}

/** All changes that the options name, but for those that change nothing. */
function wanted() {
  const last = options.again ? new Set(JSON.parse(readFileSync(reportFile, "utf8")).survivors) : undefined;
  const lines = options.since === undefined ? undefined : changedLines(options.since);
  const folders = options.folder?.split(",").map((each) => `${each.replace(/\/+$/, "").replace(/^src\//, "")}/`);
  const names = options.file?.split(",");
  return [...texts.keys()]
    .filter((file) => !folders || folders.some((each) => file.startsWith(`src/${each}`)))
    .filter((file) => !names || names.some((each) => file.includes(each)))
    .filter((file) => !lines || lines.has(file))
    .flatMap((file) => mutantsOf(file, texts.get(file)))
    .filter(({ file, line }) => !lines || lines.get(file).has(line))
    .filter(({ id }) => !last || last.has(id))
    .filter((mutant) => !equivalent.some((each) => isSame(each, mutant)));
}

/** By the line's text, which stays when the lines above it change. */
function isSame({ file, code, before, after }, mutant) {
  return file === mutant.file && code === mutant.code && before === mutant.before && after === mutant.after;
}

function changedLines(revision) {
  const text = execFileSync("git", ["diff", "-U0", "--no-color", revision, "--", "src"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const found = new Map();
  let file = "";
  for (const each of text.split("\n")) {
    file = /^\+\+\+ b\/(.+)$/.exec(each)?.[1] ?? file;
    const [, start, count = "1"] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(each) ?? [];
    if (start === undefined) continue;
    if (!found.has(file)) found.set(file, new Set());
    for (let at = 0; at < Number(count); at++) found.get(file).add(Number(start) + at);
  }
  return found;
}

/** So many of each folder, by chance that can be repeated. */
function sampled(all) {
  let state = Number(options.seed) & 0x7fffffff;
  const random = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  for (let at = 0; at < 10; at++) random();
  const shuffled = all
    .map((mutant) => [random(), mutant])
    .sort((a, b) => a[0] - b[0])
    .map(([, mutant]) => mutant);
  if (options.sample === undefined) return shuffled;
  const taken = new Map();
  return shuffled.filter(({ file }) => {
    const count = (taken.get(folderOf(file)) ?? 0) + 1;
    taken.set(folderOf(file), count);
    return count <= Number(options.sample);
  });
}

function numbered(list) {
  return list.map((mutant, index) => ({ ...mutant, number: index + 1 }));
}

function line({ file, line: at, kind, before, after, by, asked, of }) {
  const end = by ? `  by ${by}` : of === 0 ? "  (no test reaches it)" : asked < of ? `  (${asked} of ${of} runs)` : "";
  return `${by ? "noticed " : "survived"} ${file}:${at}  ${kind}  ${before} -> ${after}${end}`;
}

/** The share of each folder; 1 when one of them has too little. */
function report() {
  const survivors = done.filter(({ by }) => !by).sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  for (const mutant of survivors) console.log(line(mutant));
  const folders = [...new Set(done.map(({ file }) => folderOf(file)))].sort();
  const lines = linesOf(folders);
  const rows = folders.map((folder) => {
    const all = done.filter(({ file }) => folderOf(file) === folder);
    const hit = all.filter(({ by }) => by).length;
    const share = (100 * hit) / all.length;
    // Shown to some of the tests only: the share is a lower bound.
    const cutShort = all.filter(({ by, asked, of }) => !by && asked < of).length;
    const isLow = share < wantedShare(folder) && lines.get(folder) > fewestLines;
    return {
      folder,
      noticed: hit,
      changes: all.length,
      share: Number(share.toFixed(1)),
      cutShort,
      wanted: wantedShare(folder),
      isLow,
    };
  });
  console.log(`\nseed ${options.seed}`);
  for (const { folder, noticed: hit, changes, share, cutShort, wanted: least, isLow } of rows) {
    const bound = cutShort > 0 ? `  (${cutShort} not shown to all tests: raise --budget)` : "";
    console.log(
      `${folder.padEnd(12)} ${hit} of ${changes}  ${share} %${isLow ? `  (less than ${least} %)` : ""}${bound}`,
    );
  }
  const all = done.length - survivors.length;
  console.log(`${all} of ${done.length} changes were noticed: ${((100 * all) / done.length).toFixed(1)} %`);
  mkdirSync(join(reportFile, ".."), { recursive: true });
  writeFileSync(
    reportFile,
    JSON.stringify({ seed: options.seed, folders: rows, survivors: survivors.map(({ id }) => id) }),
  );
  return rows.some(({ isLow }) => isLow) ? 1 : 0;
}

function linesOf(folders) {
  const count = new Map(folders.map((folder) => [folder, 0]));
  for (const [file, text] of texts) {
    const folder = folderOf(file);
    if (count.has(folder)) count.set(folder, count.get(folder) + text.split("\n").length);
  }
  return count;
}
