// Was a file that a search named the one at this path, all the while that the search ran? A command beside it may have put a
// link in the place of a folder, and taken it away again.
import { lstatSync, type Stats, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { milliseconds } from "../process/clock.ts";
import type { FolderHandle } from "./folder-handle.ts";

/** A moment before which a search had not begun, by both clocks. */
export type Moment = { date: number; steady: number };

export function moment(): Moment {
  return { date: Date.now(), steady: milliseconds() };
}

/** File systems that stamp a folder with this machine's clock whenever a name in it changes. Of others nothing is known. */
const stampedHere: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
]);

/** The kernel's stamps lag behind its clock by a tick, which is 10 ms at most. */
const stampLagMs = 50;

/**
 * The folders, by their path below the root, of which no name on the way and no name inside has changed since `start`. A
 * change of a name leaves a stamp on its folder that nobody can set back. The deepest are looked at first: that the root
 * has not changed shows that what was looked at before lay below it.
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
  // A clock that was set makes stamps say nothing.
  const now = moment();
  if (Math.abs(now.date - start.date - (now.steady - start.steady)) > stampLagMs / 2) return settled;
  for (const folder of deepestFirst.reverse())
    if (unchanged.has(folder) && (folder === "." || settled.has(dirname(folder)))) settled.add(folder);
  return settled;
}

function depthOf(folder: string): number {
  return folder === "." ? 0 : folder.split("/").length;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined; // gone, or behind a link that leads nowhere
  }
}
