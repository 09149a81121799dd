// Is a folder one that the repository ignores? Asked only of folders that grew large.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { words } from "../../text/words.ts";

/** They hold what a command brings back, whether or not a list says so. */
const usual = words(`
  node_modules bower_components .venv venv .tox .nox __pycache__ .gradle .next .nuxt .turbo .parcel-cache .pnpm-store
  .cache`);
const longestList = 1024 * 1024;

/** By the lists of every folder above it, from the top of its repository on; the nearest one decides. */
export async function isIgnoredFolder(path: string, root: string): Promise<boolean> {
  const top = repositoryOf(root) ?? root;
  const names = relative(top, path).split(sep);
  if (usual.has(names.at(-1)!)) return true;
  let ignored = false;
  let folder = top;
  for (const list of [join(top, ".git/info/exclude"), join(top, ".gitignore")]) {
    ignored = await judged(list, names, ignored);
  }
  for (const [index, name] of names.slice(0, -1).entries()) {
    folder = join(folder, name);
    ignored = await judged(join(folder, ".gitignore"), names.slice(index + 1), ignored);
  }
  return ignored;
}

async function judged(list: string, names: readonly string[], before: boolean): Promise<boolean> {
  const patterns = read(list);
  if (patterns === undefined) return before;
  const { default: ignore } = await import("ignore");
  const { ignored, unignored } = ignore()
    .add(patterns)
    .test(`${names.join("/")}/`);
  return ignored || (before && !unignored);
}

/** The folder, here or above, that holds `.git`. */
function repositoryOf(root: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() && stat.size <= longestList ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
