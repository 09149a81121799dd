// A process of `npm run mutate`: bundles the policy's tests and cases with one changed file, and says which of them notices.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { context } from "esbuild";
import { mutantsOf, withProbes } from "./mutants.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const policy = join(root, "src/policy/");
const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
/** What a file of src/policy holds instead of its own text. */
let sourceOf = (_file) => undefined;
let round = 0;

// Those that start programs, or take a second and more, cannot be run thousands of times.
const tests = readdirSync(join(root, "test/policy"))
  .filter((name) => name.endsWith(".test.ts") && !/^(fuzz|everyday|tables|config-cases|.*cli)/.test(name))
  .map((name) => `./test/policy/${name}`);
const entry = [
  'export { units } from "./test/policy/mutation/units.ts";',
  'export { finishTests } from "./test/policy/mutation/in-process.ts";',
  ...tests.map((name) => `import ${JSON.stringify(name)};`),
].join("\n");

const bundler = await context({
  stdin: { contents: entry, resolveDir: root, loader: "ts", sourcefile: "mutation.ts" },
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  outfile: join(folder, "bundle.mjs"),
  write: false,
  logLevel: "silent",
  alias: { vitest: join(root, "test/policy/mutation/in-process.ts") },
  plugins: [
    {
      name: "change",
      setup(build) {
        build.onLoad({ filter: /[\\/](test|bench)[\\/].*\.ts$/ }, ({ path }) => ({
          contents: readFileSync(path, "utf8").replaceAll("import.meta.dirname", JSON.stringify(dirname(path))),
          loader: "ts",
        }));
        build.onLoad({ filter: /[\\/]src[\\/]policy[\\/].*\.ts$/ }, ({ path }) => {
          const contents = sourceOf(path.slice(policy.length));
          return contents === undefined ? undefined : { contents, loader: "ts" };
        });
      },
    },
  ],
});

const tasks = { watch, notice };
process.on("message", async ({ task, ...given }) => process.send(await tasks[task](given)));
process.on("disconnect", () => bundler.dispose().finally(() => process.exit(0)));
process.send("ready");

/** Runs everything with probes: what each probe was reached by, and what came out there. */
async function watch() {
  const felt = new Map();
  const isTruthy = [new Map(), new Map()];
  let current = -1;
  globalThis.felt = (key, value) => {
    const seen = isTruthy[value ? 1 : 0];
    let list = seen.get(key);
    if (!list) seen.set(key, (list = []));
    if (list.at(-1) !== current) list.push(current);
    return value;
  };
  sourceOf = (file) => {
    const source = readFileSync(join(policy, file), "utf8");
    return withProbes(source, mutantsOf(file, source));
  };
  try {
    const { all, finish } = await load();
    const failed = [];
    const times = [];
    for (const [index, unit] of all.entries()) {
      current = index;
      const started = performance.now();
      const problem = await problemOf(unit);
      times.push(performance.now() - started);
      if (problem) failed.push(`${unit.text}: ${problem}`);
    }
    await finish();
    for (const key of new Set([...isTruthy[0].keys(), ...isTruthy[1].keys()]))
      felt.set(key, { false: isTruthy[0].get(key) ?? [], true: isTruthy[1].get(key) ?? [] });
    return { failed, felt: Object.fromEntries(felt), texts: all.map(({ text }) => text), times };
  } catch (error) {
    return { failed: [String(error?.stack ?? error)] };
  }
}

/** The first of the chosen tests that notices the change; undefined when none does. */
async function notice({ file, source, chosen }) {
  sourceOf = (each) => (each === file ? source : undefined);
  let loaded;
  try {
    loaded = await load();
  } catch {
    return { noticedBy: "loading" };
  }
  for (const index of chosen) {
    const unit = loaded.all[index];
    if (unit && !(await problemOf(unit))) continue;
    await loaded.finish().catch(() => {});
    return { noticedBy: index };
  }
  await loaded.finish().catch(() => {});
  return {};
}

async function load() {
  const file = join(folder, `bundle-${round++}.mjs`);
  try {
    const { outputFiles } = await bundler.rebuild();
    writeFileSync(file, outputFiles[0].contents);
    const { units, finishTests } = await import(pathToFileURL(file).href);
    return { all: units(), finish: finishTests };
  } finally {
    rmSync(file, { force: true });
  }
}

async function problemOf(unit) {
  try {
    await unit.run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
