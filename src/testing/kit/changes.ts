// Finds what a run changed in a folder, from the files' contents before and after.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** How a file changed during a run. */
export type Change = "added" | "modified" | "deleted";
/** `path` is relative to the run's folder, with `/`. */
export type ChangedFile = { path: string; change: Change };

/** Maps relative paths to file contents or, for links, to their targets. */
export function fingerprints(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (inside: string): void => {
    for (const entry of readdirSync(inside, { withFileTypes: true })) {
      if (entry.name === ".git" || entry.name === "node_modules") continue;
      const path = join(inside, entry.name);
      const name = relative(folder, path).replaceAll(sep, "/");
      if (entry.isDirectory()) visit(path);
      else if (entry.isSymbolicLink() || entry.isFile()) found.set(name, readContent(path, entry.isFile()));
    }
  };
  visit(folder);
  return found;
}

function readContent(path: string, isFile: boolean): string {
  try {
    return isFile ? createHash("sha256").update(readFileSync(path)).digest("hex") : `-> ${readlinkSync(path)}`;
  } catch (error) {
    // The file cannot be read, or was removed after it was listed.
    return (error as NodeJS.ErrnoException).code ?? "unreadable";
  }
}

export function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ChangedFile[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path): ChangedFile[] => {
    if (before.get(path) === after.get(path)) return [];
    if (!before.has(path)) return [{ path, change: "added" }];
    return [{ path, change: after.has(path) ? "modified" : "deleted" }];
  });
}
