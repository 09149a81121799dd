// Hard links: other names of protected files. A file with two names is one file, and writing it by either changes both.
import { join } from "node:path";
import { isInside } from "../../policy/paths.ts";
import type { Mount } from "./layout.ts";
import { entriesOf, statOf } from "./protected-paths.ts";

const mostEntries = 20_000;

/** `mounts`: what is protected so far. Nearly always nothing in there has a second name, and nothing is searched. */
export function hardLinksTo(mounts: readonly Mount[], writable: readonly string[]): Mount[] {
  const closed = mounts.filter(({ as }) => as === "readOnly").map(({ at }) => at);
  const wanted = new Set(closed.flatMap(filesOf).flatMap((path) => linkedFile(path) ?? []));
  if (wanted.size === 0) return [];
  const found: Mount[] = [];
  const open = [...writable];
  let left = mostEntries;
  for (let next = 0; next < open.length; next++) {
    for (const entry of entriesOf(open[next]!)) {
      if (left-- <= 0) return found;
      const path = join(open[next]!, entry.name);
      if (closed.some((at) => isInside(path, at))) continue;
      if (entry.isDirectory()) open.push(path);
      else if (wanted.has(linkedFile(path) ?? "")) found.push({ at: path, as: "readOnly" });
    }
  }
  return found;
}

/** A file, or those right in a folder. */
function filesOf(path: string): string[] {
  return statOf(path)?.isDirectory() ? entriesOf(path).map(({ name }) => join(path, name)) : [path];
}

/** What tells a file that has several names from all others. */
function linkedFile(path: string): string | undefined {
  const stat = statOf(path);
  return stat?.isFile() && stat.nlink > 1 ? `${stat.dev}:${stat.ino}` : undefined;
}
