// Finds out whether anything in the workspace has changed since a time, whoever changed it: a command that rules allow, a hook, a server.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../store/folder-names.ts";

/** The number of entries above which a folder is assumed to have changed. */
const maxEntries = 100_000;
const atOnce = 2000;
/** The parts of `.git` that git runs or reads; the others change with every git command. */
const partsOfGit = ["config", "hooks", "info"];

/** Returns whether anything below has changed, by its ctime, which the changing program cannot hide. `closed` is not looked at. */
export async function changedSince(folders: readonly string[], since: number, closed: string): Promise<boolean> {
  const open = [...folders];
  let looked = 0;
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (++looked > maxEntries) return true;
    if (looked % atOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat || path === closed) continue;
    if (path.endsWith("/.git") && stat.isDirectory()) open.push(...partsOfGit.map((name) => join(path!, name)));
    else if (stat.ctimeMs >= since) return true;
    else if (stat.isDirectory()) open.push(...namesIn(path).map((name) => join(path!, name)));
  }
  return false;
}
