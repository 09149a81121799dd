// Checks that a file named by a search was at its path for the whole search: a concurrent command may have replaced a
// folder with a link and removed it again.
import { lstatSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { milliseconds } from "../process/clock.ts";
import { type FolderHandle, statOf } from "./folder-handle.ts";

/** A time before the search began, by the wall clock and the monotonic clock. */
export type Moment = { date: number; steady: number };

export function currentMoment(): Moment {
  return { date: Date.now(), steady: milliseconds() };
}

/** Ids of file systems that stamp a folder with this machine's clock whenever a name in it changes. */
const stampedHere: ReadonlySet<number> = new Set([
  0xef53, // the id of ext2, ext3 and ext4
  0x58465342, // the id of xfs
  0x9123683e, // the id of btrfs
  0x01021994, // the id of tmpfs
  0x794c7630, // the id of overlayfs
  0xf2f52010, // the id of f2fs
  0x2fc12fc1, // the id of zfs
]);

/** The kernel's timestamps lag behind its clock by one tick, at most 10 ms. */
const stampLagMs = 50;

/**
 * Returns the folders, relative to the root, in which no name and above which no name has changed since `start`. Changing a name leaves a
 * timestamp on its folder that cannot be set back. The deepest are checked first: an unchanged root then proves that the folders checked
 * before lay below it.
 */
export function settledFolders(files: Iterable<string>, root: FolderHandle, start: Moment): ReadonlySet<string> {
  const folders = new Set(["."]);
  for (const file of files)
    for (let folder = dirname(file); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  const deepestFirst = [...folders].sort((one, other) => depthOf(other) - depthOf(one));
  const { dev } = lstatSync(root.at("."));
  const isStamped = stampedHere.has(statfsSync(root.at(".")).type);
  const unchanged = new Set(
    deepestFirst.filter((folder) => {
      const stat = isStamped ? statOf(root.at(folder)) : undefined;
      return stat?.isDirectory() && stat.dev === dev && stat.ctimeMs < start.date - stampLagMs;
    }),
  );
  const settled = new Set<string>();
  // If the clock was set back, timestamps prove nothing.
  const now = currentMoment();
  if (Math.abs(now.date - start.date - (now.steady - start.steady)) > stampLagMs / 2) return settled;
  for (const folder of deepestFirst.reverse())
    if (unchanged.has(folder) && (folder === "." || settled.has(dirname(folder)))) settled.add(folder);
  return settled;
}

function depthOf(folder: string): number {
  return folder === "." ? 0 : folder.split("/").length;
}
