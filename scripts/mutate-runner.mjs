// A process of `npm run mutate`: bundles the policy tests with one changed file, runs them, and says whether they noticed.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { context } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
/** The changed file and its text. */
let change = { file: "", source: "" };
let round = 0;

const tests = readdirSync(join(root, "test/policy"))
  .filter((name) => name.endsWith(".test.ts") && !/^(fuzz|everyday|config-cases|.*cli)/.test(name))
  .map((name) => `./test/policy/${name}`);
const entry = [
  'export { runTests } from "./test/policy/mutation/in-process.ts";',
  'export { quickCases } from "./test/policy/mutation/quick-cases.ts";',
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
        build.onLoad({ filter: /[\\/]src[\\/]policy[\\/].*\.ts$/ }, ({ path }) =>
          path.endsWith(`/${change.file}`) && change.source !== ""
            ? { contents: change.source, loader: "ts" }
            : undefined,
        );
      },
    },
  ],
});

if (await isNoticed()) process.exit(1);
process.send("ready");
process.on("message", async (next) => {
  change = next;
  process.send({ noticed: await isNoticed() });
});
process.on("disconnect", () => process.exit(0));

async function isNoticed() {
  const file = join(folder, `bundle-${round++}.mjs`);
  try {
    const { outputFiles } = await bundler.rebuild();
    const { writeFileSync } = await import("node:fs");
    writeFileSync(file, outputFiles[0].contents);
    const { runTests, quickCases } = await import(pathToFileURL(file).href);
    const failed = (await quickCases()) ?? (await runTests());
    if (failed && change.source === "") process.stderr.write(`${failed}\n`);
    return failed !== undefined;
  } catch (error) {
    if (change.source === "") process.stderr.write(`${error?.stack ?? error}\n`);
    // What does not even load is noticed.
    return true;
  } finally {
    rmSync(file, { force: true });
  }
}
