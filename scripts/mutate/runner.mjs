// A process of `npm run long -- mutate` that keeps a test runner for one tree, so that what has been transformed stays so from one change
// to the next. Each task is a list of test files, which new processes run.
import { join, relative } from "node:path";
import { createVitest } from "vitest/node";

const [tree, isWatching] = process.argv.slice(2);
const vitest = await createVitest(
  "test",
  {
    root: tree,
    watch: false,
    run: true,
    bail: isWatching ? 0 : 1,
    isolate: isWatching === "watch",
    maxWorkers: 1,
    reporters: [{}],
    cache: false,
    ...(isWatching && { setupFiles: [join(tree, "scripts/mutate/reach-setup.mjs")] }),
  },
  { server: { watch: null }, clearScreen: false, logLevel: "silent" },
);

process.on("message", async (task) =>
  process.send(await run(task).catch((error) => ({ error: String(error?.stack) }))),
);
process.on("disconnect", () => process.exit(0));
process.send("ready");

async function run({ files, names }) {
  vitest.setGlobalTestNamePattern(names ? new RegExp(names) : /(?:)/);
  const found = await vitest.globTestSpecifications(files.map((file) => join(tree, file)));
  const specifications = found.filter(({ moduleId }) => files.includes(relative(tree, moduleId)));
  const started = performance.now();
  const { testModules } = await vitest.runTestSpecifications(specifications, false);
  const failed = [];
  let passed = 0;
  for (const module of testModules) {
    const file = relative(tree, module.moduleId);
    for (const error of module.errors()) failed.push({ file, name: "(loading)", message: error.message });
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      if (state === "passed") passed++;
      if (state === "failed")
        failed.push({ file, name: test.fullName.replaceAll(" > ", " "), message: errors?.[0]?.message ?? "" });
    }
    for (const suite of module.children.allSuites())
      for (const error of suite.errors())
        failed.push({ file, name: suite.fullName.replaceAll(" > ", " "), message: error.message });
  }
  vitest.state.filesMap.clear();
  return { failed: failed.slice(0, 20), passed, ms: performance.now() - started };
}
