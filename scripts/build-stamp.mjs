// What a build was made from, kept in dist/, so that npm's `prepare` builds again only where something has changed.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const sources = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.types.json", "scripts", "src"];

/** Of another commit (it is the version), another Node (the code cache is for one) or other files, a build is out of date. */
export function stampOf(root, { types }) {
  const hash = createHash("sha256");
  for (const name of sources.flatMap((each) => filesIn(root, each))) {
    hash.update(`${name}\n`).update(readFileSync(join(root, name)));
  }
  return JSON.stringify({ commit: commitOf(root), node: process.version, files: hash.digest("hex"), types });
}

export function writeStamp(root, stamp) {
  writeFileSync(stampFile(root), stamp);
}

export function isBuilt(root) {
  try {
    return readFileSync(stampFile(root), "utf8") === stampOf(root, { types: true });
  } catch {
    return false;
  }
}

/** Undefined where the folder is no checkout of its own. */
export function commitOf(root, format = "%H") {
  try {
    const git = (...args) =>
      execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    if (git("rev-parse", "--show-toplevel") !== root) return undefined;
    return git("log", "-1", `--format=${format}`, "--date=format:%Y.%m.%d", "--abbrev=7");
  } catch {
    return undefined;
  }
}

function stampFile(root) {
  return join(root, "dist/built-from.json");
}

function filesIn(root, name) {
  if (!statSync(join(root, name)).isDirectory()) return [name];
  const entries = readdirSync(join(root, name), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(root, join(entry.parentPath, entry.name))).sort();
}
