// `npm run long -- try-nodes [VERSION …] [PATH …]`: what CI does with this commit (.ci/run), with other versions of Node and the npm
// that comes with each; 20.19, 22 and 24 unless told, and of the tests those at the paths. Every way to install has a clone of
// its own. By hand, because Node and npm are installed from the registry, into a folder that is removed.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const given = process.argv.slice(2);
const isVersion = (word) => /^\d+(\.\d+)*$/.test(word);
const paths = given.filter((word) => !isVersion(word));
const versions = given.some(isVersion) ? given.filter(isVersion) : ["20.19", "22", "24"];
/** By the major version of Node; newer ones come with the newest. */
const npmOf = { 20: "10", 22: "10", 24: "11" };

const failed = versions.filter((version) => testWith(version) !== 0);
for (const version of versions) console.log(`Node ${version}: ${failed.includes(version) ? "failed" : "passed"}`);
process.exit(failed.length === 0 ? 0 : 1);

function testWith(version) {
  // Not in the folder for temporary files, which sandboxes hide.
  const folder = mkdtempSync(join(root, "node_modules/.node-"));
  chmodSync(folder, 0o755); // some tests run the program as another user
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const packages = [`${name}@${version}`, `npm@${npmOf[version.split(".")[0]] ?? "latest"}`];
    const flags = ["--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts"];
    const installed = spawnSync("npm", ["install", ...flags, ...packages], { stdio: "inherit" }).status;
    if (installed !== 0) return 1;
    const bin = join(folder, "bin");
    mkdirSync(bin);
    symlinkSync(join(folder, "node_modules", name, "bin/node"), join(bin, "node"));
    for (const each of ["npm", "npx"]) {
      symlinkSync(join(folder, `node_modules/npm/bin/${each}-cli.js`), join(bin, each));
    }
    // Without what the `npm run` around us has set.
    const kept = Object.entries(process.env).filter(
      ([variable]) => !/^npm_(?!config_(userconfig|cache)$)/.test(variable),
    );
    const path = `${bin}${delimiter}${process.env.PATH}`;
    return spawnSync("bash", [join(root, ".ci/run"), ...paths], {
      stdio: "inherit",
      env: { ...Object.fromEntries(kept), PATH: path, INSTALL_EACH_BARE: "1" },
    }).status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
