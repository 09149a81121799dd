// Runs one TypeScript file of test/ or bench/: bundles it beside node_modules and calls its `main(argv)`. A signal ends it with
// everything that it has started.
//   node scripts/run-ts.mjs [--build] FILE [arguments…]     --build: dist/ first
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { cssText } from "./css-text.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const isBuilding = process.argv[2] === "--build";
const [file, ...argv] = process.argv.slice(isBuilding ? 3 : 2);
const entry = resolve(root, file);
// Inside the repository, so that packages are found; the source's own folder stays the meaning of import.meta.dirname.
mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
const folder = mkdtempSync(join(root, "node_modules/.cache/run-ts-"));
const outfile = join(folder, "program.mjs");
process.on("exit", () => {
  if (existsSync("/proc/self/stat")) for (const pid of startedBy(process.pid)) kill(pid);
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
// npm hands a signal on to its shell alone, which dies of it without a word.
const shell = process.ppid;
if (process.env.npm_lifecycle_event !== undefined)
  setInterval(() => process.ppid === shell || process.exit(128 + constants.signals.SIGHUP), 500).unref();
try {
  if (isBuilding) await import("./build.mjs");
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
} catch (error) {
  console.error(error);
  process.exit(1); // whatever still runs
}

/** Children, their children, and so on: where the system shows them. */
function startedBy(pid) {
  const children = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(id);
    children.set(parent, [...(children.get(parent) ?? []), Number(id)]);
  }
  const below = (parent) => (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

function parentOf(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) \S+ (\d+) .*$/s, "$1"));
  } catch {
    return undefined; // it has ended
  }
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was quicker.
  }
}
