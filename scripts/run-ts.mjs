// Runs one TypeScript file of test/ or bench/: bundles it beside node_modules and calls its `main(argv)`.
//   node scripts/run-ts.mjs FILE [arguments…]
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { cssText } from "./css-text.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [file, ...argv] = process.argv.slice(2);
const entry = resolve(root, file);
// Inside the repository, so that packages are found; the source's own folder stays the meaning of import.meta.dirname.
mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
const folder = mkdtempSync(join(root, "node_modules/.cache/run-ts-"));
const outfile = join(folder, "program.mjs");
try {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    outfile,
    logLevel: "warning",
    define: { "import.meta.dirname": JSON.stringify(dirname(entry)) },
    plugins: [
      cssText,
      {
        name: "dirname",
        setup(context) {
          // Each module keeps its own folder.
          context.onLoad({ filter: /[\\/](test|bench)[\\/].*\.ts$/ }, async ({ path }) => {
            const { readFile } = await import("node:fs/promises");
            const contents = (await readFile(path, "utf8")).replaceAll(
              "import.meta.dirname",
              JSON.stringify(dirname(path)),
            );
            return { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  const { main } = await import(pathToFileURL(outfile).href);
  process.exitCode = (await main(argv)) ?? 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
