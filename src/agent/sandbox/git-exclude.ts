// The empty folders that hold names, kept from git: `git clean` and `git stash -u` would try to remove them and fail.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isInside } from "../../policy/paths.ts";
import { protectedFiles, protectedFolders } from "../../policy/protected-names.ts";
import type { Mount } from "./layout.ts";
import { entriesOf, statOf } from "./protected-paths.ts";

/** `copy`: where a list of what git passes over may be written, to be laid over the one of the repository. */
export function excludeReserved(root: string, held: readonly string[], copy: string): Mount | undefined {
  const list = join(root, ".git", "info", "exclude");
  const isPlain = statOf(join(root, ".git"))?.isDirectory() && statOf(join(root, ".git", "info"))?.isDirectory();
  if (!isPlain || !statOf(list)?.isFile()) return undefined;
  // Other commands that run here may have made them: they are known by being empty.
  const names = [".cursor", ...protectedFolders, ...protectedFiles].map((name) => join(root, name));
  const reserved = [...new Set([...names, ...held.filter((path) => isInside(path, root))])].filter(
    (path) => statOf(path)?.isDirectory() && entriesOf(path).length === 0,
  );
  if (reserved.length === 0) return undefined;
  const lines = reserved.map((path) => `/${relative(root, path).replace(/[*?[\\ #!]/g, "\\$&")}/`);
  try {
    writeFileSync(copy, `${readFileSync(list, "utf8")}\n${lines.join("\n")}\n`, { mode: 0o600 });
  } catch {
    return undefined; // git is a little louder then
  }
  return { at: list, as: "private", from: copy };
}
