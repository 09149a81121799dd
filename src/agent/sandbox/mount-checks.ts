// Verifies that bubblewrap mounts the very files that were scanned: another command running in the same folders could put a link there
// in between, and a link may lead anywhere.
import { lstatSync } from "node:fs";
import { isInside } from "../../policy/paths.ts";
import { FolderTrail, namesFrom } from "../folder-handle.ts";
import type { Layout, Mount } from "./layout.ts";

/** `identity` is device and inode as printed by `stat -c %d:%i`. */
export type MountCheck = { at: string; identity: string };

/** Returns a check for every mount inside a folder that commands can write. Throws if one has changed. */
export function mountChecks(
  layout: Layout,
  writable: readonly string[],
  { emptyFile, emptyFolder }: { emptyFile: string; emptyFolder: string },
): MountCheck[] {
  const identities = { file: identityAt(emptyFile), folder: identityAt(emptyFolder) };
  const trail = new FolderTrail();
  try {
    return layout.flatMap((mount): MountCheck[] => {
      const root = writable.find((each) => mount.at !== each && isInside(mount.at, each));
      if (root === undefined || !isOfPath(mount)) return [];
      const names = namesFrom(root, mount.at);
      const ownIdentity = identityAt(trail.to(root, names.slice(0, -1)).at(names.at(-1)!));
      return [{ at: mount.at, identity: mount.as === "hidden" ? identities[mount.kind] : ownIdentity }];
    });
  } finally {
    trail.close();
  }
}

function isOfPath({ as }: Mount): boolean {
  return as === "pinned" || as === "writable" || as === "readOnly" || as === "hidden";
}

function identityAt(path: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
