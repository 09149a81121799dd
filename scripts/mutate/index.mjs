// `npm run mutate -- [--sample N] [--seed S] [--file NAME,…] [--again] [--show]`: changes src/policy one small thing at a time
// and looks whether a test or a case notices. A change is shown only to the tests that reach it. Prints the share of
// changes that were noticed; survivors say which test is missing, and `--again` takes only those of the last run.
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mutantsOf } from "./mutants.mjs";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "src/policy");
const cache = join(root, "node_modules/.cache");
const survivorsFile = join(cache, "mutate-survivors.json");
const options = readOptions(process.argv.slice(2));
const longestRunMs = 60_000;
/** What takes longer by itself cannot be run thousands of times. */
const longestTestMs = 1000;
/** Modules that were loaded once stay in memory. */
const changesInAProcess = 150;
const survivors = [];
const counts = new Map();
/** The tests that noticed changes of a file most lately: they are the first to be asked. */
const lately = new Map();
let mutants = [];
let scratch = "";
let done = 0;
let endless = 0;

/** Takes changes one by one; a process that hangs is ended, and that counts as noticed. */
async function work(number, watched) {
  let runner = await startRunner(number);
  for (let taken = 1; mutants.length > 0; taken++) {
    const mutant = mutants.shift();
    const { file, source } = mutant;
    const answer = await runner.ask({ task: "notice", file, source, chosen: chosenFor(mutant, watched) });
    if (answer === "lost" || taken % changesInAProcess === 0) {
      runner.stop();
      runner = await startRunner(number);
    }
    if (answer === "lost") endless++;
    count(mutant, answer === "lost" ? "a limit of time" : answer.noticedBy, watched);
  }
  runner.stop();
}

function count(mutant, noticedBy, { texts }) {
  const isNoticed = noticedBy !== undefined;
  done++;
  const [hit, all] = counts.get(mutant.file) ?? [0, 0];
  counts.set(mutant.file, [hit + (isNoticed ? 1 : 0), all + 1]);
  if (!isNoticed) survivors.push(mutant);
  if (typeof noticedBy === "number") {
    const others = (lately.get(mutant.file) ?? []).filter((each) => each !== noticedBy);
    lately.set(mutant.file, [noticedBy, ...others].slice(0, 30));
  }
  if (options.show)
    console.error(
      `${isNoticed ? "noticed " : "SURVIVED"} ${mutant.file}:${mutant.line} ${mutant.kind} ${mutant.before} -> ${mutant.after}${isNoticed ? `  by ${texts[noticedBy] ?? noticedBy}` : ""}`,
    );
  else if (done % 100 === 0) console.error(`${done} done, ${mutants.length} to go, ${done - survivors.length} noticed`);
}

/** The tests that can feel a change, the likeliest first: those that name its words, then those that noticed others. */
function chosenFor({ file, probe, feltWhen, words }, { felt, texts, times, everything }) {
  const reached = probe && (felt[probe.key] ?? { false: [], true: [] });
  const able = reached ? (feltWhen === undefined ? merged(reached) : reached[feltWhen]) : everything;
  // Reached outside of every test: while a group was set up.
  const chosen = able.includes(-1) ? everything : able;
  const recent = lately.get(file) ?? [];
  // How much sooner an answer can be hoped for, for the time that it takes.
  const rank = (index) => {
    const named = words.filter((word) => texts[index].includes(word)).length;
    return ((named > 0 ? 30 * named : 1) + (recent.includes(index) ? 10 : 0)) / (0.3 + times[index]);
  };
  return chosen
    .map((index) => [rank(index), index])
    .sort((a, b) => b[0] - a[0])
    .map(([, index]) => index);
}

function withoutSlow(felt, quick) {
  const kept = (list) => list.filter((index) => index === -1 || quick.has(index));
  return Object.fromEntries(
    Object.entries(felt).map(([key, reached]) => [key, { false: kept(reached.false), true: kept(reached.true) }]),
  );
}

function merged(reached) {
  return [...new Set([...reached.false, ...reached.true])];
}

async function startRunner(number) {
  const child = fork(join(import.meta.dirname, "runner.mjs"), [join(scratch, String(number))], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await new Promise((settle, reject) => {
    child.once("message", settle);
    child.once("exit", (code) => reject(new Error(`The tests do not load (${code}).`)));
  });
  child.removeAllListeners();
  return {
    ask: (task, limitMs = longestRunMs) =>
      new Promise((settle) => {
        const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
        const end = (answer) => {
          clearTimeout(timer);
          child.removeAllListeners();
          settle(answer);
        };
        child.once("message", end);
        child.once("exit", () => end("lost"));
        child.send(task);
      }),
    stop: () => child.connected && child.disconnect(),
  };
}

/** What each place of the source is reached by; ends the run when a test fails without any change. */
async function watch() {
  const runner = await startRunner(0);
  const answer = await runner.ask({ task: "watch" }, 300_000);
  runner.stop();
  if (answer === "lost" || answer.failed.length > 0)
    throw new Error(
      `The tests do not pass without any change:\n${(answer.failed ?? ["no answer"]).slice(0, 20).join("\n")}`,
    );
  const everything = answer.texts.flatMap((_, index) => (answer.times[index] < longestTestMs ? [index] : []));
  return { ...answer, everything, felt: withoutSlow(answer.felt, new Set(everything)) };
}

function sampled(all) {
  let state = options.seed;
  const random = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const shuffled = all.map((mutant) => [random(), mutant]).sort((a, b) => a[0] - b[0]);
  return shuffled.map(([, mutant]) => mutant).slice(0, options.sample ?? all.length);
}

function readOptions(argv) {
  const value = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  return {
    sample: value("--sample") === undefined ? undefined : Number(value("--sample")),
    seed: Number(value("--seed") ?? 1),
    files: value("--file")?.split(","),
    again: argv.includes("--again"),
    show: argv.includes("--show"),
  };
}

function wanted() {
  const last = options.again ? new Set(JSON.parse(readFileSync(survivorsFile, "utf8"))) : undefined;
  return readdirSync(folder, { recursive: true })
    .filter(
      (name) => name.endsWith(".ts") && (!options.files || options.files.some((each) => `/${name}`.includes(each))),
    )
    .sort()
    .flatMap((name) => mutantsOf(name, readFileSync(join(folder, name), "utf8")))
    .filter(({ id }) => !last || last.has(id));
}

mutants = sampled(wanted());
mkdirSync(cache, { recursive: true });
scratch = mkdtempSync(join(cache, "mutate-"));
try {
  const watched = await watch();
  console.error(`${mutants.length} changes, ${watched.texts.length} tests and cases`);
  await Promise.all([0, 1].map((number) => work(number, watched)));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
survivors.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
writeFileSync(survivorsFile, JSON.stringify(survivors.map(({ id }) => id)));
for (const mutant of survivors)
  console.log(`survived ${mutant.file}:${mutant.line}  ${mutant.kind}  ${mutant.before} -> ${mutant.after}`);
for (const [file, [hit, all]] of [...counts].sort()) console.log(`${file.padEnd(32)} ${hit} of ${all}`);
const noticed = done - survivors.length;
console.log(
  `${noticed} of ${done} changes were noticed: ${((100 * noticed) / Math.max(1, done)).toFixed(1)} %${endless > 0 ? `, ${endless} of them because a test came to no end` : ""}`,
);
process.exit(noticed >= 0.9 * done ? 0 : 1);
