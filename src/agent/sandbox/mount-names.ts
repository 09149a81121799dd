// Other names that mounts of the system give to a path: a folder may be bound to several places, and what a rule says of it
// holds at each.
import { readFileSync } from "node:fs";
import { isInside } from "../../policy/paths.ts";

/** `root`: the folder of the file system that is seen at `at`. */
type SystemMount = { device: string; root: string; at: string };

/** Of a path, without that path itself. */
export type OtherNames = (path: string) => string[];

export function readMountNames(table = "/proc/self/mountinfo"): OtherNames {
  let text: string;
  try {
    text = readFileSync(table, "utf8");
  } catch {
    return () => [];
  }
  const mounts = text.split("\n").flatMap(mountOf);
  if (new Set(mounts.map(({ device }) => device)).size === mounts.length) return () => [];
  const holderOf = (path: string) =>
    mounts.reduce<SystemMount | undefined>(
      // Of two at one place, the later lies on top.
      (best, mount) => (isInside(path, mount.at) && mount.at.length >= (best?.at.length ?? 0) ? mount : best),
      undefined,
    );
  return (path) => {
    const holder = holderOf(path);
    if (!holder) return [];
    const inside = joined(holder.root, below(path, holder.at));
    const others = mounts.filter(({ device, root }) => device === holder.device && isInside(inside, root));
    const names = others.flatMap((mount) => {
      const name = joined(mount.at, below(inside, mount.root));
      return name !== path && holderOf(name) === mount ? [name] : [];
    });
    return [...new Set(names)];
  };
}

function mountOf(line: string): SystemMount[] {
  const [, , device, root, at] = line.split(" ").map(unescaped);
  return device !== undefined && root !== undefined && at !== undefined ? [{ device, root, at }] : [];
}

/** Blanks and the like are written as octal numbers. */
function unescaped(word: string): string {
  return word.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** With its slash in front; empty for the folder itself. */
function below(path: string, folder: string): string {
  return folder === "/" ? (path === "/" ? "" : path) : path.slice(folder.length);
}

function joined(folder: string, rest: string): string {
  return folder === "/" ? rest || "/" : folder + rest;
}
