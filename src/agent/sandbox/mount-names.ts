// Finds the other paths of a file through the system's mounts: a folder may be bound to several places, and a rule about it holds at each.
import { readFileSync } from "node:fs";
import { isInside } from "../../policy/paths.ts";
import { tryOr } from "../../text/try-or.ts";

/** `root` is the folder of the file system that is mounted at `at`. */
type SystemMount = { device: string; root: string; at: string };

/** Returns the other paths under which the same file is mounted. */
export type OtherNames = (path: string) => string[];

export function readMountNames(table = "/proc/self/mountinfo"): OtherNames {
  const text = tryOr(() => readFileSync(table, "utf8"), "");
  const mounts = text.split("\n").flatMap(mountOf);
  if (new Set(mounts.map(({ device }) => device)).size === mounts.length) return () => [];
  const holderOf = (path: string) =>
    mounts.reduce<SystemMount | undefined>(
      // If two mounts have the same path, the later one is on top.
      (best, mount) => (isInside(path, mount.at) && mount.at.length >= (best?.at.length ?? 0) ? mount : best),
      undefined,
    );
  return (path) => {
    const holder = holderOf(path);
    if (!holder) return [];
    const inside = joinRest(holder.root, restBelow(path, holder.at));
    const others = mounts.filter(({ device, root }) => device === holder.device && isInside(inside, root));
    const names = others.flatMap((mount) => {
      const name = joinRest(mount.at, restBelow(inside, mount.root));
      return name !== path && holderOf(name) === mount ? [name] : [];
    });
    return [...new Set(names)];
  };
}

function mountOf(line: string): SystemMount[] {
  const [, , device, root, at] = line.split(" ").map(decodeOctal);
  return device !== undefined && root !== undefined && at !== undefined ? [{ device, root, at }] : [];
}

/** Decodes blanks and the like, which are written as octal numbers. */
function decodeOctal(word: string): string {
  return word.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Returns the rest of the path with its leading slash; empty for the folder itself. */
function restBelow(path: string, folder: string): string {
  return folder === "/" ? (path === "/" ? "" : path) : path.slice(folder.length);
}

function joinRest(folder: string, rest: string): string {
  return folder === "/" ? rest || "/" : folder + rest;
}
