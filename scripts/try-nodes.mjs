// `npm run try:nodes -- [VERSION …] [PATH …]`: builds and tests with other versions of Node, 22 and 24 unless told. By hand, because
// each is installed from the registry, into a folder that is removed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const given = process.argv.slice(2);
const isVersion = (word) => /^\d+(\.\d+)*$/.test(word);
const paths = given.filter((word) => !isVersion(word));
const versions = given.some(isVersion) ? given.filter(isVersion) : ["22", "24"];

const failed = versions.filter((version) => testWith(version) !== 0);
for (const version of versions) console.log(`Node ${version}: ${failed.includes(version) ? "failed" : "passed"}`);
process.exit(failed.length === 0 ? 0 : 1);

function testWith(version) {
  // Not in the folder for temporary files, which sandboxes hide.
  const folder = mkdtempSync(join(root, "node_modules/.node-"));
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const install = [
      "install",
      "--prefix",
      folder,
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `${name}@${version}`,
    ];
    const installed = spawnSync("npm", install, { stdio: "inherit" }).status;
    if (installed !== 0) return 1;
    const bin = join(folder, "node_modules", name, "bin");
    return spawnSync(join(bin, "node"), [join(root, "scripts/test.mjs"), ...paths], {
      stdio: "inherit",
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    }).status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
