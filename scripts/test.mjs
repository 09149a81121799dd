// `npm test [-- PATH…] [--shuffle SEED]`: builds what is out of date, installs what tests need from the system where it may, runs the tests, ends
// with the skips and why. With a seed, files and their tests run in another order, the same one for the same seed.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { freemem, homedir, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const isCi = process.env.CI === "true";

/** System packages that tests use: what to look for, what brings it, what for. A test that lacks one is skipped and says so. */
const systemPackages = [
  { name: "bubblewrap", file: "/usr/bin/bwrap", use: "the sandbox" },
  { name: "chromium", file: "/usr/bin/chromium", use: "the studio and the browser tools" },
  { name: "nats-server", file: "/usr/sbin/nats-server", use: "fleets of many machines" },
  { name: "iproute2", file: "/usr/sbin/ip", use: "networks of their own" },
  { name: "strace", file: "/usr/bin/strace", use: "power cuts" },
  { name: "zsh", file: "/usr/bin/zsh", use: "completion" },
  { name: "fish", file: "/usr/bin/fish", use: "completion" },
];

if (!existsSync(join(root, "node_modules/vitest"))) {
  console.error("The tests' own packages are not installed. Type: npm ci && npm test");
  process.exit(1);
}
installSystemPackages();
run(process.execPath, [join(root, "scripts/prepare.mjs")]);
mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
const reports = mkdtempSync(join(root, "node_modules/.cache/test-report-"));
const report = join(reports, "report.json");
/** At most this many files of tests get a second try. */
const maxSecondTries = 3;
const leftFile = join(reports, "left.txt");
const uncaughtFile = join(reports, "uncaught.txt");
// Temporary files of the tests have a folder of their own, so that what is left there is known. Its path is short: sockets have room for few characters.
const temporary = mkdtempSync(join(tmpdir(), "t-"));
// As root, some tests run the program as another user, who may write there as in /tmp.
chmodSync(temporary, 0o1777);
const words = withShuffle(process.argv.slice(2));
const seed = process.env.TEST_SEED ?? String(Math.floor(Math.random() * 1e9));
console.log(`TEST_SEED=${seed} npm test makes the same random choices again.`);
const inMemoryPrefix = inMemory();
let status = runTests(words);
let results = readReport();
const flaky = secondTry();
const left = leftBehind();
if (left.length > 0) console.error(`\nLeft in TMPDIR by tests, which must remove what they make:\n${left.join("\n")}`);
if (flaky.length > 0) {
  console.log("\nFlaky: failed beside the other tests, passed when their file ran alone:");
  for (const name of flaky) console.log(`- ${name}`);
}
const unlisted = results ? summarize(results) : [];
for (const folder of [reports, temporary]) rmSync(folder, { recursive: true, force: true });
// In CI nothing may be skipped but what test/allowed-skips.json lists for such a machine. A file that a worker left when it was
// cut off at the end is named and fails nothing.
if (isCi && unlisted.length > 0) console.error(`\nNot in test/allowed-skips.json:\n${unlisted.join("\n")}`);
process.exit(status !== 0 ? status : isCi && unlisted.length > 0 ? 1 : 0);

/** Runs vitest, which writes its report; returns its exit status. */
function runTests(words) {
  const vitest = [process.execPath, join(root, "node_modules/vitest/vitest.mjs"), "run"];
  const uncaughtReporter = `--reporter=${join(root, "scripts/uncaught-reporter.mjs")}`;
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, uncaughtReporter];
  // Whatever the end of the tests: what is in the folder then is written down where it is seen.
  const shell = ["sh", "-c", '"$@"; ended=$?; ls -A "$TMPDIR" >>"$0"; exit $ended', leftFile];
  const [command, ...rest] = [...inMemoryPrefix, ...shell, ...vitest, ...reporters, ...words];
  const env = { ...testEnvironment(), TMPDIR: temporary, TEST_SEED: seed, UNCAUGHT_FILE: uncaughtFile };
  return spawnSync(command, rest, { cwd: root, stdio: "inherit", env }).status ?? 1;
}

function readReport() {
  return existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined;
}

/**
 * Tests that failed, in a few files, run once more with nothing beside them. What passes then is named as flaky and does not fail the
 * whole; an error outside of any test does. A shuffled order is there to find such tests, so it gives no second try. Returns the
 * names of the flaky tests.
 */
function secondTry() {
  const failed = results?.testResults.filter((file) => file.status === "failed") ?? [];
  const mayTryAgain = failed.length > 0 && failed.length <= maxSecondTries && !existsSync(uncaughtFile);
  if (status === 0 || !mayTryAgain || process.argv.includes("--shuffle")) return [];
  console.log(`\nOnce more, alone: ${failed.map((file) => relative(root, file.name)).join(", ")}`);
  rmSync(report);
  const secondStatus = runTests([...failed.map((file) => file.name), "--no-file-parallelism"]);
  const second = readReport();
  if (secondStatus !== 0 || !second) return [];
  status = 0;
  const again = new Map(second.testResults.map((file) => [file.name, file]));
  results = { ...results, testResults: results.testResults.map((file) => again.get(file.name) ?? file) };
  return failed.flatMap((file) => {
    const names = file.assertionResults.filter((test) => test.status === "failed").map((test) => test.fullName);
    return names.length > 0 ? names : [relative(root, file.name)];
  });
}

/** `--shuffle SEED` in vitest's own words; vitest.config.ts shuffles the files. */
function withShuffle(words) {
  const at = words.indexOf("--shuffle");
  if (at < 0) return words;
  const seed = words[at + 1] ?? "";
  if (!/^\d+$/.test(seed)) {
    console.error("--shuffle takes a number: the seed of the order. Type: npm test -- --shuffle 1");
    process.exit(2);
  }
  return [...words.slice(0, at), "--sequence.shuffle.tests", `--sequence.seed=${seed}`, ...words.slice(at + 2)];
}

/**
 * What starts a program that has its temporary files in memory, where it may: tests make and remove very many, which costs a disk a
 * fifth of their time. Only that program and what it starts see this file system, and it ends with them. All of /tmp is in memory,
 * since programs of the tests write there too, unless something that is needed lies in it.
 */
function inMemory() {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return [];
  if (Math.min(freemem(), process.availableMemory()) < 8 * 1024 ** 3) return [];
  const needed = [root, reports, process.execPath, homedir(), ...(process.env.PATH ?? "").split(":"), ...npmPlaces()];
  const isFree = temporary.startsWith("/tmp/") && !needed.some((path) => `${path}/`.startsWith("/tmp/"));
  const script = 'mount -t tmpfs -o mode=1777 tests "$0" && mkdir -p "$1" && chmod 1777 "$1" && shift && exec "$@"';
  const mount = ["unshare", "--mount", "sh", "-c", script, isFree ? "/tmp" : temporary, temporary];
  return spawnSync(mount[0], [...mount.slice(1), "true"], { stdio: "ignore" }).status === 0 ? mount : [];
}

/** Files and folders that npm tells its scripts of. */
function npmPlaces() {
  return Object.entries(process.env).flatMap(([name, value]) => (/^npm_config_/i.test(name) ? [value] : []));
}

/** What tests have left among the temporary files, by how the names begin: "12 × courser-bundle-". */
function leftBehind() {
  // The folder for sockets is the program's own, one for each user, and stays.
  const names = (existsSync(leftFile) ? readFileSync(leftFile, "utf8") : "")
    .split("\n")
    .filter((name) => name !== "" && !/^courser-\d+$/.test(name));
  const counts = new Map();
  for (const name of names) {
    const start = name.replace(/[A-Za-z0-9]{6}$/, "");
    counts.set(start, (counts.get(start) ?? 0) + 1);
  }
  return [...counts].map(([start, count]) => `${count} × ${start}`);
}

/** Where nothing may be installed, the tests that lack a package say so at the end. */
function installSystemPackages() {
  const missing = systemPackages.filter(({ file }) => !existsSync(file));
  if (missing.length === 0 || process.env.COURSER_TEST_APT === "0") return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.log("As root, npm test installs the system packages that some tests need:");
  for (const { name, use } of missing) console.log(`- ${name}, to test ${use}`);
  console.log("COURSER_TEST_APT=0 npm test installs nothing and skips those tests.\n");
  spawnSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
  const names = missing.map(({ name }) => name);
  const { status } = spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names], {
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status === 0) return;
  console.log("apt-get could not install all of them: tests that lack one are skipped.\n");
  if (isCi) process.exit(1);
}

/** Tests run without the keys and settings of whoever runs them. */
function testEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/(_API_KEY|_TOKEN|_SECRET)$|^(CURSOR|COURSER)_|^NODE_EXTRA_CA_CERTS$|^XDG_/.test(name),
  );
  return Object.fromEntries(kept);
}

/** A skipped test carries its reason in its name: "… (skipped: no openssl here)". */
function summarize(results) {
  const tests = results.testResults.flatMap((file) => file.assertionResults);
  const skipped = tests.filter(
    (test) => test.status === "skipped" || test.status === "pending" || test.status === "todo",
  );
  if (skipped.length > 0) console.log("\nSkipped:");
  for (const test of skipped) console.log(`- ${test.fullName}`);
  const passed = tests.filter((test) => test.status === "passed").length;
  const failed =
    tests.filter((test) => test.status === "failed").length +
    results.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`);
  return skipped.map((test) => test.fullName).filter((name) => !isAllowed(name));
}

/** By the lists for machines like this one. */
function isAllowed(name) {
  const reason = /\(skipped: (.+?)\)/.exec(name)?.[1];
  if (reason === undefined) return false;
  const lists = JSON.parse(readFileSync(join(root, "test/allowed-skips.json"), "utf8"));
  const here = [
    "anywhere",
    process.getuid?.() === 0 ? "as root" : "not as root",
    ...(process.platform === "darwin" ? ["on macOS"] : []),
    ...systemPackages.filter(({ file }) => !existsSync(file)).map((each) => `without ${each.name}`),
  ];
  return here.some((each) => lists[each].some((pattern) => new RegExp(pattern).test(reason)));
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
