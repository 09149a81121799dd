// What a run did to the files of a folder: their contents before and after.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, relative, sep } from "node:path";

export type Change = "added" | "modified" | "deleted";
/** `path`: relative to where the run worked, with `/`. */
export type ChangedFile = { path: string; change: Change };

/** By their relative paths, what is in the files; of links, where they lead. */
export function fingerprints(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (inside: string): void => {
    for (const entry of readdirSync(inside, { withFileTypes: true })) {
      if (entry.name === ".git" || entry.name === "node_modules") continue;
      const path = join(inside, entry.name);
      const name = relative(folder, path).replaceAll(sep, "/");
      if (entry.isDirectory()) visit(path);
      else if (entry.isSymbolicLink() || entry.isFile()) found.set(name, contentOf(path, entry.isFile()));
    }
  };
  visit(folder);
  return found;
}

function contentOf(path: string, isFile: boolean): string {
  try {
    return isFile ? createHash("sha256").update(readFileSync(path)).digest("hex") : `-> ${readlinkSync(path)}`;
  } catch (error) {
    // Closed to us, or gone since it was listed.
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
