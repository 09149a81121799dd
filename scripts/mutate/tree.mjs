// A copy of the checkout in a folder of its own, whose source can be changed and built while nobody else sees it.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** What programs read when they start: the number of the change that is in effect, and the test that runs. */
export const chosenFile = (tree) => join(tree, "mutant-chosen");
export const currentFile = (tree) => join(tree, "mutant-test");
export const reachFile = (tree) => join(tree, "mutant-reach");

/** Every file that git knows or would take, with the packages of the checkout. */
export function makeTree() {
  const tree = mkdtempSync(join(tmpdir(), "mutate-"));
  for (const name of listed()) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    cpSync(join(root, name), join(tree, name), { verbatimSymlinks: true });
  }
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  writeFileSync(chosenFile(tree), "0");
  // Also where a signal ends it.
  process.once("exit", () => removeTree(tree));
  return tree;
}

export function removeTree(tree) {
  rmSync(tree, { recursive: true, force: true });
}

function listed() {
  const names = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return names.split("\n").filter((name) => name !== "" && existsSync(join(root, name)));
}

export function sourceFiles() {
  return listed().filter((name) => /^src\/.*\.tsx?$/.test(name) && !name.endsWith(".d.ts"));
}

export function testFiles() {
  return listed().filter((name) => /^test\/.*\.test\.ts$/.test(name));
}

export function sourceOf(name) {
  return readFileSync(join(root, name), "utf8");
}

/** Puts texts in the place of files, and builds the program from them. */
export function buildTree(tree, texts) {
  for (const [name, text] of texts) writeFileSync(join(tree, name), text);
  execFileSync(process.execPath, [join(tree, "scripts/build.mjs"), "--no-code-cache"], {
    cwd: tree,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
