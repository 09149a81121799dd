// Layout: the file system as a command in the sandbox is to see it, a list of mounts from the root down.
import { isInside } from "../../policy/paths.ts";
import { list } from "../../text/words.ts";

/**
 * `covered`: an empty folder that what lies deeper may show through. `private`: a folder or a file of the run's own. `visible`: read-only,
 * through a cover. `writable`. `pinned`: in something writable, and fixed to its place. `readOnly`: in something writable.
 * `closed`: as covered, whatever else is said of the folder itself. `hidden`: neither it nor what is below it.
 */
export type Mount = { at: string } & (
  | { as: "covered" | "visible" | "pinned" | "writable" | "readOnly" | "closed" }
  | { as: "private"; from: string }
  | { as: "hidden"; kind: "file" | "folder" }
);

export type Layout = readonly Mount[];

/** Two words about one path: the later in this list holds. */
const order = list("covered private visible pinned writable readOnly closed hidden") as readonly Mount["as"][];

/** Puts mounts in the order in which they must be laid, and leaves out what changes nothing. */
export function arrange(mounts: readonly Mount[]): Layout {
  const strictest = new Map<string, Mount>();
  for (const mount of mounts) {
    const other = strictest.get(mount.at);
    if (!other || order.indexOf(mount.as) > order.indexOf(other.as)) strictest.set(mount.at, mount);
  }
  const sorted = [...strictest.values()].sort((left, right) => (keyOf(left.at) < keyOf(right.at) ? -1 : 1));
  const laid: Mount[] = [];
  const above: Mount[] = [];
  for (const mount of sorted) {
    while (above.length > 0 && !isInside(mount.at, above.at(-1)!.at)) above.pop();
    if (!matters(mount, above.at(-1))) continue;
    laid.push(mount);
    above.push(mount);
  }
  return laid;
}

/** The slash sorts before every other character, so that a folder comes right before what is in it. */
function keyOf(path: string): string {
  return path.replaceAll("/", "\0");
}

function matters(mount: Mount, holder: Mount | undefined): boolean {
  const outer = holder?.as ?? "readOnly"; // the root
  if (outer === "hidden") return false;
  const isUnseen = outer === "covered" || outer === "private" || outer === "closed";
  switch (mount.as) {
    case "visible":
      return isUnseen;
    case "pinned":
    case "readOnly":
      return outer === "writable" || outer === "pinned";
    case "closed":
    case "hidden":
      return !isUnseen;
    case "covered":
    case "private":
    case "writable":
      return true;
  }
}
